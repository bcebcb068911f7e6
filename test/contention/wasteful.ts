import type { Limit } from '../../src/limits/limit.ts';
import { type Comparison, fleetAgainstIdeal, manyWindows } from './againstIdeal.ts';
import { type Habits, waits } from './contend.ts';

/** What a client does that wastes most of what it takes. */
export const wasteful: [name: string, Partial<Habits>][] = [
  ['refunds 95 % in 5 ms', { refund: 0.95, refundWithin: 5 }],
  ['refunds 95 % in 500 ms', { refund: 0.95, refundWithin: 500 }],
  ['cancels 95 % in 100 ms', { cancel: 0.95, cancelWithin: 100 }],
];

/** One client wastes what it takes, and the others, of which there are five, keep everything: also the least of their shares. */
export function besideWasteful(
  limit: Limit,
  waste: Partial<Habits>,
  others = 5,
  waiting = 4,
  during = manyWindows(limit),
): Comparison & { least: number } {
  const keeps = { ...waits, waiting };
  const clients = [{ ...keeps, ...waste }, ...Array(others).fill(keeps)];
  const compared = fleetAgainstIdeal(limit, clients, during);
  return { ...compared, least: Math.min(...compared.shares.slice(1)) };
}
