import type { Cost } from '../../limits/cost.ts';
import { loadOf } from '../../limits/load.ts';
import { algebraOf } from '../../limits/states.ts';
import { noticePeriod } from '../store.ts';
import { commitAll } from './grant.ts';
import { bringForward } from './holes.ts';
import type { Hole, Instant, LedgerState } from './ledgerState.ts';
import { freedOf, noteGranted, noteTaken } from './pace.ts';

/** The most requests that a call grants in this way, so that it takes little of the server. */
export const mostGaps = 64;

/**
 * Grants a request now, ahead of all reservations, if refunded permits are free that no reservation needs;
 * otherwise they would stay unused until the last reservation is due. If there is no room, refunding a hole
 * further ahead may make room: behind a hole far ahead, permits may have been free for as long as its
 * reservation waited for more. Reservations keep their moments. Returns whether the request was granted.
 *
 * Without contention, only those of `freedOf`, or before holes far ahead, are granted. The twin of `lua/reserve/gaps.lua`.
 */
export function takeGap(ledger: LedgerState, instant: Instant, cost: Cost, hole: Hole | undefined): boolean {
  const { now, at } = instant;
  const load = loadOf(ledger, cost);
  const isPaced = now < ledger.pacedUntil;
  const isFreed = freedOf(ledger, now) >= load;
  const isFar = hole !== undefined && hole.moment > now + noticePeriod;
  if (!(isPaced || isFreed || isFar) || ledger.pausedUntil > now) return false;
  const isFree = (isPaced || isFreed) && hasGap(ledger, instant, cost, Infinity, isFreed);
  if (
    !isFree &&
    !(hole && hasGap(ledger, instant, cost, hole.moment, isFreed || isFar, isFar ? hole : undefined))
  )
    return false;
  commitAll(ledger, now, at, cost, 1);
  if (!isFree) bringForward(ledger, hole!, cost, now);
  noteTaken(ledger, cost, 1);
  if (isPaced) noteGranted(ledger, cost, 1);
  else ledger.credit = Math.max(0, ledger.credit - load);
  return true;
}

function hasGap(
  { limits }: LedgerState,
  { now, at }: Instant,
  cost: Cost,
  before: number,
  isFreed: boolean,
  hole?: Hole,
): boolean {
  for (let i = 0; i < cost.length; i++) {
    const state = limits[i];
    if (cost[i] === 0) continue;
    const unused = hole ? hole.cost[i] * hole.count : 0;
    // Without a refund, a window has free permits only because the pace holds grants back.
    if (!isFreed && state.kind !== 'tokenBucket') return false;
    if (!algebraOf(state).hasGap(state, now, at, cost[i], before, isFreed, unused)) return false;
  }
  return true;
}
