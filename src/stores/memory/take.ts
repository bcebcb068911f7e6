import type { Cost } from '../../limits/cost.ts';
import { capacityOf, type Limit } from '../../limits/limit.ts';
import { algebraOf } from '../../limits/states.ts';
import { small } from '../../small.ts';
import { isCalm } from './contenders.ts';
import { type Control, isIdle } from './control.ts';
import { stateOf } from './createLedger.ts';
import { commitAll } from './grant.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { frontierOf } from './offer.ts';
import { isUnder, pauseEnd, renew } from './openLedger.ts';

/**
 * The ledger at the server's time, if nothing else has to change: its clock has not stepped back, there is no pause or hole, and
 * the limits are the same. If no grant counts any more, a new one. Otherwise undefined, and the ledger is left unchanged for
 * `openLedger`.
 */
export function reopen(
  kept: LedgerState | undefined,
  names: readonly string[],
  own: readonly Limit[],
  serverUs: number,
  control: Control,
  after = 0,
  late = 0,
): LedgerState | undefined {
  const serverMs = Math.floor(serverUs / 1000);
  const now = small(serverMs + (kept?.shift ?? 0));
  let ledger = kept;
  if (!ledger || ledger.expires <= now) {
    if (!isIdle(control, serverMs)) return undefined;
    ledger = renew(kept, names, own, serverUs, control, after, late);
  } else {
    if (now < ledger.seen || control.pausedUntil > serverMs || ledger.pausedUntil > now) return undefined;
    if (ledger.epoch < control.forgotten || ledger.holes.length > 0) return undefined;
    if (!isUnder(ledger, names, control.limits ?? own)) return undefined;
    ledger.seen = now;
    for (let i = 0; i < ledger.under.length; i++)
      algebraOf(stateOf(ledger, i)).roll(stateOf(ledger, i), now, ledger.shift, ledger.under.length === 1);
  }
  const pausedUntil = pauseEnd(ledger, control);
  // Compared, as most ledgers have no such field of their own.
  if (ledger.pausedUntil !== pausedUntil) ledger.pausedUntil = pausedUntil;
  return ledger;
}

/**
 * Grants one request now in a reopened ledger, if there is no contention and no limit makes it wait. Returns
 * whether the request was granted.
 */
export function takeNow(ledger: LedgerState, { now, at }: Instant, cost: Cost, isKept = false): boolean {
  // The slow path bounds the frontiers that are ahead.
  if (Math.max(ledger.pacedUntil, frontierOf(ledger)) > now || !isCalm(ledger.contenders, now)) return false;
  for (let i = 0; i < cost.length; i++) {
    const n = cost[i];
    if (n === 0) continue;
    const state = stateOf(ledger, i);
    // Every limit can grant a single permit.
    if ((n > 1 && n > capacityOf(state)) || algebraOf(state).earliest(state, now, at, n) > now) return false;
  }
  commitAll(ledger, now, at, cost, 1, isKept);
  return true;
}
