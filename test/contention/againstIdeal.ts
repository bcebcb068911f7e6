import type { Limit } from '../../src/limits/limit.ts';
import { contend, type Habits } from './contend.ts';
import { ideal } from './ideal.ts';

export const measured = { roundTrip: 2, warmUp: 3000, span: 30_000 };
/** Of few permits, chance decides much. */
const seeds = [1, 2, 3];

/** What clients with the same habits keep, compared with one queue in the store. */
export interface Comparison {
  /** Kept permits a second. */
  rate: number;
  /** Their part of what the queue keeps. */
  part: number;
  /** The longest wait in milliseconds, on average of the seeds. */
  longest: number;
  /** Calls for each granted permit. */
  calls: number;
}

export function againstIdeal(limit: Limit, clients: number, habits: Habits): Comparison {
  let [kept, best, longest, granted, calls] = [0, 0, 0, 0, 0];
  for (const seed of seeds) {
    const contention = {
      ...{ limits: [limit], clients: Array.from({ length: clients }, () => habits), ...measured, seed },
    };
    const outcome = contend(contention);
    for (const [permits] of outcome.kept) kept += permits;
    best += ideal(contention)[0];
    longest += outcome.longest / seeds.length;
    granted += outcome.granted;
    calls += outcome.calls;
  }
  const rate = (kept * 1000) / (seeds.length * measured.span);
  return { rate, part: kept / best, longest, calls: calls / granted };
}
