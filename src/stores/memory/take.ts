import type { Cost } from '../../limits/cost.ts';
import { capacityOf, type Limit } from '../../limits/limit.ts';
import { algebraOf } from '../../limits/states.ts';
import { isCalm } from './contenders.ts';
import { type Control, isIdle } from './control.ts';
import { commitAll } from './grant.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { isUnder, openLedger } from './openLedger.ts';

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
): LedgerState | undefined {
  const serverMs = Math.floor(serverUs / 1000);
  const now = serverMs + (kept?.shift ?? 0);
  if (!kept || kept.expires <= now)
    return isIdle(control, serverMs)
      ? openLedger(kept, names, own, serverUs, control, after).ledger
      : undefined;
  if (now < kept.seen || control.pausedUntil > serverMs || kept.pausedUntil > now) return undefined;
  if (kept.epoch < control.forgotten || kept.holes.length > 0) return undefined;
  if (!isUnder(kept, names, control.limits ?? own)) return undefined;
  kept.seen = now;
  kept.pausedUntil = control.pausedUntil + kept.shift;
  for (const state of kept.limits) algebraOf(state).roll(state, now, kept.shift);
  return kept;
}

/**
 * Grants one request now in a reopened ledger, if there is no contention and no limit makes it wait. Returns
 * whether the request was granted.
 */
export function takeNow(ledger: LedgerState, { now, at }: Instant, cost: Cost): boolean {
  const { limits } = ledger;
  // The slow path bounds a frontier that is ahead.
  if (Math.max(ledger.pacedUntil, ledger.frontier) > now || !isCalm(ledger.contenders, now)) return false;
  for (let i = 0; i < cost.length; i++) {
    const n = cost[i];
    if (n === 0) continue;
    const state = limits[i];
    if (n > capacityOf(state) || algebraOf(state).earliest(state, now, at, n) > now) return false;
  }
  commitAll(ledger, now, at, cost, 1);
  return true;
}
