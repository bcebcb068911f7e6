import type { Cost } from '../../limits/cost.ts';
import { algebraOf, type LimitState } from '../../limits/states.ts';
import { small } from '../../small.ts';
import { stateOf } from './createLedger.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { newestIn } from './offer.ts';
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
  strides: readonly number[],
  most: number,
  isKept = false,
): number {
  const count = Math.max(...strides) > 0 ? keepPace(ledger, instant, t, cost, strides, most) : most;
  commitAll(ledger, instant.now, t, cost, count, isKept);
  return count;
}

/**
 * Bounds each frontier by the newest reservation of its window. When a reservation is refunded, the frontier moves back by a
 * smaller stride than it had moved forward, if many permits were refunded since.
 */
export function boundFrontiers(ledger: LedgerState, now: number): void {
  // A ledger that nobody has waited for keeps its shape.
  if (ledger.frontiers.length === 0) return;
  ledger.frontiers = ledger.frontiers.map((frontier, i) =>
    Math.min(frontier, Math.max(now, newestIn(ledger.limits[i])) + mostStride),
  );
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

/** Moves the frontiers by the requests, at most `most`, that the pace allows at `t`. Returns their number. */
function keepPace(
  ledger: LedgerState,
  instant: Instant,
  t: number,
  cost: Cost,
  strides: readonly number[],
  most: number,
): number {
  const stride = Math.max(...strides);
  const unpaced = Math.floor(ledger.credit / stride);
  let count = Infinity;
  const from = ledger.limits.map((state, i) => {
    const frontier = ledger.frontiers[i] ?? 0;
    if (strides[i] === 0) return frontier;
    // If the window had room before `t`, `t` only keeps the order of requests, and the frontier does not restart there.
    const start = Math.max(frontier, hasRoomBefore(ledger, state, instant, t, cost[i]) ? instant.now : t);
    count = Math.min(count, Math.ceil((t + 1 - start) / strides[i]));
    return start;
  });
  count = Math.min(most, Math.max(1, unpaced + count));
  // A quotient that is rounded up would leave less than nothing, which is no number of a ledger.
  ledger.credit = Math.max(0, ledger.credit - stride * Math.min(count, unpaced));
  ledger.frontiers = from.map((start, i) => start + strides[i] * Math.max(0, count - unpaced));
  noteGranted(ledger, cost, count);
  return count;
}

/** Whether a window has room for permits before `t`. If so, `t` only keeps the order of requests. */
function hasRoomBefore(
  { limits }: LedgerState,
  state: LimitState,
  { now, at }: Instant,
  t: number,
  permits: number,
): boolean {
  const { earliest, fit, freeBefore } = algebraOf(state);
  if (t <= at) return false;
  // A sliding window's `earliest` is never before its newest reservation, so `fit` tells whether there is room just before `t`.
  if (state.kind !== 'fixedWindow') return fit(state, now, t - 1, permits) >= 1;
  if (earliest(state, now, at, permits) < t) return true;
  // A reservation that waits for another limit may be in the same window, far ahead.
  return limits.length > 1 && freeBefore(state, at, permits) < t;
}
