import type { Cost } from '../../limits/cost.ts';
import { algebraOf } from '../../limits/states.ts';
import { small } from '../../small.ts';
import { stateOf } from './createLedger.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';
import { mostStride, noteGranted } from './pace.ts';

/**
 * Grants requests of one cost at the moment `t`, at most `most`, and no more than the pace allows. `isKept` tells
 * that they are never refunded. Returns their number. The twin of `lua/ledger/grant.lua`.
 */
export function grantAll(
  ledger: LedgerState,
  instant: Instant,
  t: number,
  cost: Cost,
  stride: number,
  most: number,
  isKept = false,
): number {
  const count = stride > 0 ? keepPace(ledger, instant, t, cost, stride, most) : most;
  commitAll(ledger, instant.now, t, cost, count, isKept);
  return count;
}

/**
 * Bounds the frontier by the newest reservation of any window. When a reservation is refunded, the frontier moves back by a
 * smaller stride than it had moved forward, if many permits were refunded since.
 */
export function boundFrontier(ledger: LedgerState, now: number): void {
  if (ledger.frontier <= now + mostStride) return;
  ledger.frontier = Math.min(ledger.frontier, Math.max(now, newestOf(ledger, undefined, true)) + mostStride);
}

/** Records `count` requests at the moment `t` in every limit that they are charged to. */
export function commitAll(
  ledger: LedgerState,
  now: number,
  t: number,
  cost: Cost,
  count: number,
  isKept = false,
): void {
  for (let i = 0; i < cost.length; i++) {
    const state = stateOf(ledger, i);
    if (cost[i] > 0) algebraOf(state).commit(state, now, t, small(cost[i] * count), isKept);
  }
}

/** Moves the frontier by the requests, at most `most`, that the pace allows at `t`. Returns their number. */
function keepPace(
  ledger: LedgerState,
  instant: Instant,
  t: number,
  cost: Cost,
  stride: number,
  most: number,
): number {
  // If the windows had room before `t`, `t` only keeps the order of requests, and the frontier does not
  // restart there.
  const from = Math.max(ledger.frontier, hasRoomBefore(ledger, instant, t, cost) ? instant.now : t);
  const unpaced = Math.floor(ledger.credit / stride);
  const count = Math.min(most, Math.max(1, unpaced + Math.ceil((t + 1 - from) / stride)));
  // A quotient that is rounded up would leave less than nothing, which is no number of a ledger.
  ledger.credit = Math.max(0, ledger.credit - stride * Math.min(count, unpaced));
  ledger.frontier = from + stride * Math.max(0, count - unpaced);
  noteGranted(ledger, cost, count);
  return count;
}

/**
 * Whether all windows that the cost is charged to have room for it before `t`. If so, `t` only keeps the
 * order of requests.
 */
function hasRoomBefore({ limits }: LedgerState, { now, at }: Instant, t: number, cost: Cost): boolean {
  if (t <= at) return false;
  for (let i = 0; i < cost.length; i++) {
    const state = limits[i];
    if (cost[i] === 0 || state.kind === 'tokenBucket') continue;
    const { earliest, fit } = algebraOf(state);
    // A sliding window's `earliest` is never before its newest reservation, so `fit` tells whether there is room
    // just before `t`.
    const hasRoom =
      state.kind === 'fixedWindow'
        ? earliest(state, now, at, cost[i]) < t
        : fit(state, now, t - 1, cost[i]) >= 1;
    if (!hasRoom) return false;
  }
  return true;
}
