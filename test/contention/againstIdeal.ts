import type { Limit } from '../../src/limits/limit.ts';
import { jain } from '../fleet/measures.ts';
import { type Contention, contend, type Habits } from './contend.ts';
import { ideal } from './ideal.ts';

/** Of few permits, chance decides much, so as many histories as `seeds` are measured together. */
export const measured = { roundTrip: 2, warmUp: 3000, span: 30_000, seeds: 3 };

/** What clients keep, compared with one queue in the store. */
export interface Comparison {
  /** The permits that each client keeps, as a part of its fair share of the limit. */
  shares: number[];
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

type During = Pick<Contention, 'roundTrip' | 'jitter' | 'warmUp' | 'span' | 'fade'> & { seeds: number };

/**
 * For limits of some seconds, too: the measurement begins between the bursts in which windows grant, and after the reservations
 * that the clients made before the first refund.
 */
export function manyWindows({ interval }: Limit, span = 25_000): During {
  const warmUp = Math.max(2.6 * interval, 5600);
  return { roundTrip: 2, jitter: 0.3, warmUp, span, fade: interval, seeds: 4 };
}

/** So many clients with the same habits. */
export function againstIdeal(
  limit: Limit,
  clients: number,
  habits: Habits,
  during: During = measured,
): Comparison {
  return fleetAgainstIdeal(limit, Array(clients).fill(habits), during);
}

export function fleetAgainstIdeal(limit: Limit, clients: readonly Habits[], during: During): Comparison {
  const kept = clients.map(() => 0);
  let [best, longest, granted, calls] = [0, 0, 0, 0];
  for (let seed = 1; seed <= during.seeds; seed++) {
    const contention = { limits: [limit], clients, ...during, seed };
    const outcome = contend(contention);
    outcome.kept.forEach(([permits], client) => {
      kept[client] += permits;
    });
    best += ideal(contention)[0];
    longest += outcome.longest / during.seeds;
    granted += outcome.granted;
    calls += outcome.calls;
  }
  const sum = kept.reduce((total, permits) => total + permits, 0);
  const rate = (sum * 1000) / (during.seeds * during.span);
  const share = (during.seeds * limit.permits * during.span) / limit.interval / clients.length;
  const shares = kept.map((permits) => permits / share);
  return { shares, rate, part: sum / best, jain: jain(kept), longest, calls: calls / granted };
}
