import type { Limit } from '../../src/limits/limit.ts';
import { jain } from '../fleet/measures.ts';
import { type Contention, contend, type Habits } from './contend.ts';
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
  /** Jain's index of what each client keeps. */
  jain: number;
  /** The longest wait in milliseconds, on average of the seeds. */
  longest: number;
  /** Calls for each granted request. */
  calls: number;
}

export function againstIdeal(
  limit: Limit,
  clients: number,
  habits: Habits,
  during: Pick<Contention, 'roundTrip' | 'jitter' | 'warmUp' | 'span'> = measured,
): Comparison {
  const kept = Array.from({ length: clients }, () => 0);
  let [best, longest, granted, calls] = [0, 0, 0, 0];
  for (const seed of seeds) {
    const contention = {
      ...{ limits: [limit], clients: Array.from({ length: clients }, () => habits), ...during, seed },
    };
    const outcome = contend(contention);
    outcome.kept.forEach(([permits], client) => {
      kept[client] += permits;
    });
    best += ideal(contention)[0];
    longest += outcome.longest / seeds.length;
    granted += outcome.granted;
    calls += outcome.calls;
  }
  const sum = kept.reduce((total, permits) => total + permits, 0);
  const rate = (sum * 1000) / (seeds.length * during.span);
  return { rate, part: sum / best, jain: jain(kept), longest, calls: calls / granted };
}
