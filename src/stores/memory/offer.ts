import { newestIn as newestInBucket } from '../../limits/bucketSteps.ts';
import type { Cost } from '../../limits/cost.ts';
import { capacityOf } from '../../limits/limit.ts';
import { algebraOf, type LimitState } from '../../limits/states.ts';
import type { Instant, LedgerState } from './ledgerState.ts';

/** When a request could be granted. */
export interface Offer {
  t: number;
  /** The wait until then in microseconds. */
  wait: number;
  /** The index of the limit that is free last, if one is not free now. */
  limiting: number | undefined;
}

/** The newest moment that a limit has granted or reserved. */
export function newestIn(state: LimitState): number {
  return state.kind === 'tokenBucket' ? newestInBucket(state) : state.newest;
}

/**
 * The newest moment granted or reserved in any limit that the cost is charged to, or in any limit if there is no
 * cost; in any of these windows if `windowsOnly`.
 */
export function newestOf({ limits }: LedgerState, cost: Cost | undefined, windowsOnly: boolean): number {
  let newest = 0;
  for (let i = 0; i < limits.length; i++)
    if (cost?.[i] !== 0 && !(windowsOnly && limits[i].kind === 'tokenBucket'))
      newest = Math.max(newest, newestIn(limits[i]));
  return newest;
}

/** The latest frontier of the windows that the cost is charged to, or of all if there is no cost. */
export function frontierOf({ frontiers }: LedgerState, cost?: Cost): number {
  let latest = 0;
  for (let i = 0; i < frontiers.length; i++) if (cost?.[i] !== 0) latest = Math.max(latest, frontiers[i]);
  return latest;
}

/** The first moment, `after` or later, at which every limit can grant the cost, if `isClear` behind no reservation. */
export function offer(
  ledger: LedgerState,
  { now, at, us }: Instant,
  cost: Cost,
  stride: number,
  after: number,
  isClear: boolean,
): Offer {
  let free = Math.max(now, ledger.pausedUntil, after);
  let latest = now;
  let limiting: number | undefined;
  for (let i = 0; i < cost.length; i++) {
    if (cost[i] === 0) continue;
    const moment = algebraOf(ledger.limits[i]).earliest(ledger.limits[i], now, at, cost[i], isClear);
    if (moment > free) free = moment;
    if (moment <= latest) continue;
    latest = moment;
    limiting = i;
  }
  if (stride > 0) free = Math.max(free, Math.floor(frontierOf(ledger, cost)), newestOf(ledger, cost, true));
  const t = Math.max(at, free);
  // If the permits are free at `now`, they are granted now, although the grant is recorded at `at`.
  return { t, wait: free <= now ? 0 : t * 1000 - us, limiting };
}

/**
 * The same ahead of reservations further ahead than the horizon: those that wait for other limits of a record would hold up clients
 * that do not need these. All reservations keep their moments. `fit` tells how many requests, at most `most`, are known to fit then:
 * as many as double until they do not. Undefined if no moment earlier than `before` is known.
 */
export function offerAhead(
  ledger: LedgerState,
  { now, at, us }: Instant,
  cost: Cost,
  stride: number,
  after: number,
  before: number,
  horizon: number,
): (Offer & { fit: (most: number) => number }) | undefined {
  /** The first moment from `t` on that is free for so many requests in the limits, each of which may move it. */
  const freeFrom = (t: number, requests = 1): number =>
    cost.reduce((free, each, i) => {
      const n = each * requests;
      const state = ledger.limits[i];
      if (n > capacityOf(state)) return Infinity;
      const moment = n > 0 ? algebraOf(state).earliest(state, now, at, n) : 0;
      return moment > now + horizon
        ? algebraOf(state).freeBefore(state, free, n, at)
        : Math.max(free, moment);
    }, t);
  const frontier = stride > 0 ? Math.floor(frontierOf(ledger, cost)) : 0;
  const free = freeFrom(Math.max(now, ledger.pausedUntil, after, frontier));
  const t = Math.max(at, free);
  if (t >= before || freeFrom(t) > t) return undefined;
  const fit = (most: number) => {
    let count = 1;
    // What is granted now is recorded at `at`, and free at both.
    while (2 * count <= most && [free, t].every((from) => freeFrom(from, 2 * count) <= from)) count *= 2;
    return count;
  };
  return { t, wait: free <= now ? 0 : t * 1000 - us, limiting: undefined, fit };
}

/** How many requests, at most `most`, can be granted at the moment `t`. */
export function fitAll({ limits }: LedgerState, now: number, t: number, cost: Cost, most: number): number {
  let count = most;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) count = Math.min(count, algebraOf(limits[i]).fit(limits[i], now, t, cost[i]));
  return count;
}
