import type { Cost } from '../../limits/cost.ts';
import { algebraOf } from '../../limits/states.ts';
import { commitAll } from './grant.ts';
import { bringForward } from './holes.ts';
import type { Hole, Instant, LedgerState } from './ledgerState.ts';
import { loadOf, noteGranted } from './pace.ts';

/**
 * Grants a request now, ahead of all reservations, if refunded permits are free that no reservation needs;
 * otherwise they would stay unused until the last reservation is due. If there is no room, refunding a hole
 * further ahead may make it. Reservations keep their moments. Returns whether the request was granted. The
 * twin of `lua/ledger/gaps.lua`.
 */
export function takeGap(ledger: LedgerState, instant: Instant, cost: Cost, hole: Hole | undefined): boolean {
  const { now, at } = instant;
  const load = loadOf(ledger, cost);
  // Permits that are free only because the pace holds grants back were not refunded.
  if (ledger.freed < load || now >= ledger.pacedUntil || ledger.pausedUntil > now) return false;
  if (!hasGap(ledger, instant, cost, Infinity)) {
    if (!hole || !hasGap(ledger, instant, cost, hole.moment)) return false;
    bringForward(ledger, hole, now);
  }
  commitAll(ledger, now, at, cost, 1);
  ledger.freed -= load;
  noteGranted(ledger, cost, 1);
  return true;
}

function hasGap({ limits }: LedgerState, { now, at }: Instant, cost: Cost, before: number): boolean {
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0 && !algebraOf(limits[i]).hasGap(limits[i], now, at, cost[i], before)) return false;
  return true;
}
