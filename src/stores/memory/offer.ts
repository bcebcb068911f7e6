import type { Cost } from '../../limits/cost.ts';
import { algebraOf, type LimitState } from '../../limits/states.ts';
import type { Instant, LedgerState } from './ledgerState.ts';

/** When a request could be granted: its moment, and the wait until then in microseconds. */
export interface Offer {
  t: number;
  wait: number;
}

/** The newest moment that a limit has granted or booked. */
function newestIn(state: LimitState): number {
  return state.kind === 'tokenBucket' ? state.tail : state.newest;
}

/** The newest moment that is booked in any limit that the cost is charged to; in its windows alone, where these are asked for. */
export function newestOf({ limits }: LedgerState, cost: Cost, windowsOnly: boolean): number {
  let newest = 0;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0 && !(windowsOnly && limits[i].kind === 'tokenBucket'))
      newest = Math.max(newest, newestIn(limits[i]));
  return newest;
}

/** The first moment, `after` or later, at which every limit can grant the cost: that of the latest. */
export function offer(
  ledger: LedgerState,
  { now, at, us }: Instant,
  cost: Cost,
  stride: number,
  after: number,
): Offer {
  let free = Math.max(now, ledger.pausedUntil, after);
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0)
      free = Math.max(free, algebraOf(ledger.limits[i]).earliest(ledger.limits[i], now, at, cost[i]));
  if (stride > 0) free = Math.max(free, Math.floor(ledger.frontier), newestOf(ledger, cost, true));
  const t = Math.max(at, free);
  // Free by the time rounded down: granted now, though its moment is rounded up.
  return { t, wait: free <= now ? 0 : t * 1000 - us };
}

/** Of several limits, the index of the one that refuses the cost for longest, if any of them does. */
export function limitingOf({ limits }: LedgerState, { now, at }: Instant, cost: Cost): number | undefined {
  let limiting: number | undefined;
  let latest = now;
  for (let i = 0; i < cost.length && cost.length > 1; i++) {
    if (cost[i] === 0) continue;
    const free = algebraOf(limits[i]).earliest(limits[i], now, at, cost[i]);
    if (free > latest) {
      latest = free;
      limiting = i;
    }
  }
  return limiting;
}

/** How many requests can be granted at the moment, of at most `most`. */
export function fitAll({ limits }: LedgerState, now: number, t: number, cost: Cost, most: number): number {
  let count = most;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) count = Math.min(count, algebraOf(limits[i]).fit(limits[i], now, t, cost[i]));
  return count;
}

/** Whether the windows that the cost is charged to have room for it before a moment: then that only keeps the order. */
export function hasRoomBefore({ limits }: LedgerState, { now, at }: Instant, t: number, cost: Cost): boolean {
  if (t <= at) return false;
  for (let i = 0; i < cost.length; i++) {
    const state = limits[i];
    if (cost[i] === 0 || state.kind === 'tokenBucket') continue;
    const { earliest, fit } = algebraOf(state);
    // A log's first moment is never before its newest one.
    const hasRoom =
      state.kind === 'fixedWindow'
        ? earliest(state, now, at, cost[i]) < t
        : fit(state, now, t - 1, cost[i]) >= 1;
    if (!hasRoom) return false;
  }
  return true;
}

/** Records so many requests at a moment, in every limit that they are charged to. */
export function commitAll({ limits }: LedgerState, now: number, t: number, cost: Cost, count: number): void {
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) algebraOf(limits[i]).commit(limits[i], now, t, cost[i] * count);
}
