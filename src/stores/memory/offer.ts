import type { Cost } from '../../limits/cost.ts';
import { algebraOf, type LimitState } from '../../limits/states.ts';
import type { Instant, LedgerState } from './ledgerState.ts';

/** When a request could be granted: the moment, and the wait until then in microseconds. */
export interface Offer {
  t: number;
  wait: number;
}

/** The newest moment that a limit has granted or reserved. */
function newestIn(state: LimitState): number {
  return state.kind === 'tokenBucket' ? state.tail : state.newest;
}

/**
 * The newest moment granted or reserved in any limit that the cost is charged to, or in any of these windows
 * if `windowsOnly`.
 */
export function newestOf({ limits }: LedgerState, cost: Cost, windowsOnly: boolean): number {
  let newest = 0;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0 && !(windowsOnly && limits[i].kind === 'tokenBucket'))
      newest = Math.max(newest, newestIn(limits[i]));
  return newest;
}

/** The first moment, `after` or later, at which every limit can grant the cost. */
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
  // If the permits are free at `now`, they are granted now, although the grant is recorded at `at`.
  return { t, wait: free <= now ? 0 : t * 1000 - us };
}

/** If one of several limits refuses the cost: the index of the limit that refuses it for longest. */
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

/** How many requests, at most `most`, can be granted at the moment `t`. */
export function fitAll({ limits }: LedgerState, now: number, t: number, cost: Cost, most: number): number {
  let count = most;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) count = Math.min(count, algebraOf(limits[i]).fit(limits[i], now, t, cost[i]));
  return count;
}

/**
 * Whether all windows that the cost is charged to have room for it before `t`. If so, `t` only keeps the
 * order of requests.
 */
export function hasRoomBefore({ limits }: LedgerState, { now, at }: Instant, t: number, cost: Cost): boolean {
  if (t <= at) return false;
  for (let i = 0; i < cost.length; i++) {
    const state = limits[i];
    if (cost[i] === 0 || state.kind === 'tokenBucket') continue;
    const { earliest, fit } = algebraOf(state);
    // A sliding window's `earliest` is never before its newest reservation, so it is asked for the room just
    // before `t`.
    const hasRoom =
      state.kind === 'fixedWindow'
        ? earliest(state, now, at, cost[i]) < t
        : fit(state, now, t - 1, cost[i]) >= 1;
    if (!hasRoom) return false;
  }
  return true;
}

/** Records `count` requests at the moment `t` in every limit that they are charged to. */
export function commitAll({ limits }: LedgerState, now: number, t: number, cost: Cost, count: number): void {
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) algebraOf(limits[i]).commit(limits[i], now, t, cost[i] * count);
}
