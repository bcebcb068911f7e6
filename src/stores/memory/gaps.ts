import type { Cost } from '../../limits/cost.ts';
import { algebraOf } from '../../limits/states.ts';
import { bringForward } from './holes.ts';
import type { Hole, Instant, LedgerState } from './ledgerState.ts';
import { commitAll } from './offer.ts';
import { loadOf, noteGranted } from './pace.ts';

/**
 * Grants a request at once, in front of what is booked, where permits have come back that no booked moment needs: else
 * nobody would use them until the line has come to its end. A hole further ahead may make the room. What is booked keeps
 * its moment. Says whether it did. The twin of `lua/ledger/gaps.lua`.
 */
export function takeGap(ledger: LedgerState, instant: Instant, cost: Cost, hole: Hole | undefined): boolean {
  const { now, at } = instant;
  const load = loadOf(ledger, cost);
  // What the pace has held back is not what came back.
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
