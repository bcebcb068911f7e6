import type { Cost } from '../../limits/cost.ts';
import type { LedgerState } from './ledgerState.ts';

/** Under contention a window grants at most at 1/0.8 of its rate, so that no burst comes back every interval. */
const pacing = 0.8;
/** The share of refunds is taken over so many milliseconds of the full rate, and over so many requests, or more. */
const memory = 1000;
const requests = 16;
/** The least part of its stride that a request moves the frontier by. */
const leastPart = 0.05;

/** Milliseconds that a request takes of its limits' full rate: of the slowest of them. */
export function loadOf({ limits }: LedgerState, cost: Cost): number {
  let load = 0;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) load = Math.max(load, (cost[i] * limits[i].interval) / limits[i].permits);
  return load;
}

/** Milliseconds by which a request moves the frontier: the pace counts the part that is likely to be kept. */
export function strideOf({ limits, granted, returned }: LedgerState, cost: Cost): number {
  let stride = 0;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0 && limits[i].kind !== 'tokenBucket')
      stride = Math.max(stride, (pacing * cost[i] * limits[i].interval) / limits[i].permits);
  return stride * (granted > 0 ? Math.max(leastPart, 1 - returned / granted) : 1);
}

/** Counts requests that were granted or booked at a pace. */
export function noteGranted(ledger: LedgerState, cost: Cost, count: number): void {
  const load = loadOf(ledger, cost);
  ledger.granted += load * count;
  if (ledger.granted <= Math.max(memory, requests * load)) return;
  ledger.granted /= 2;
  ledger.returned /= 2;
}

/** Moves the pace back by what is given back: by its whole stride where its moment lies ahead, else by what it is likely to be next time. */
export function noteReturned(
  ledger: LedgerState,
  now: number,
  cost: Cost,
  count: number,
  isAhead: boolean,
): void {
  const load = loadOf(ledger, cost) * count;
  if (isAhead) {
    ledger.frontier = Math.max(now, ledger.frontier - strideOf(ledger, cost) * count);
    ledger.granted = Math.max(0, ledger.granted - load);
  } else ledger.returned = Math.min(ledger.granted, ledger.returned + load);
}

/** Counts what has come back of grants: a window's worth at most. */
export function noteFreed(ledger: LedgerState, cost: Cost, count: number): void {
  const longest = Math.max(...ledger.limits.map(({ interval }) => interval));
  ledger.freed = Math.min(longest, ledger.freed + loadOf(ledger, cost) * count);
}
