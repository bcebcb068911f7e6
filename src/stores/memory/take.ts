import type { Cost } from '../../limits/cost.ts';
import { capacityOf, type Limit } from '../../limits/limit.ts';
import { algebraOf } from '../../limits/states.ts';
import { isCalm } from './contenders.ts';
import type { Control } from './control.ts';
import { commitAll } from './grant.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { isUnder } from './openLedger.ts';

/**
 * Brings a ledger up to the server's time if nothing else has to change: its clock has not stepped back, it
 * has not expired, there is no pause or hole, and the limits are the same. Otherwise leaves it unchanged for
 * `openLedger`. Returns whether the ledger was brought up to the time.
 */
export function reopen(
  ledger: LedgerState,
  names: readonly string[],
  own: readonly Limit[],
  serverUs: number,
  control: Control,
): boolean {
  const serverMs = Math.floor(serverUs / 1000);
  const now = serverMs + ledger.shift;
  if (now < ledger.seen || ledger.expires <= now) return false;
  if (control.pausedUntil > serverMs || ledger.pausedUntil > now || ledger.epoch < control.forgotten)
    return false;
  if (ledger.holes.length > 0 || !isUnder(ledger, names, control.limits ?? own)) return false;
  ledger.seen = now;
  ledger.pausedUntil = control.pausedUntil + ledger.shift;
  for (const state of ledger.limits) algebraOf(state).roll(state, now, ledger.shift);
  return true;
}

/**
 * Grants one request now in a reopened ledger, if there is no contention and no limit makes it wait. Returns
 * whether the request was granted.
 */
export function takeNow(ledger: LedgerState, { now, at }: Instant, cost: Cost): boolean {
  const { limits } = ledger;
  if (ledger.pacedUntil > now || !isCalm(ledger.contenders, now)) return false;
  for (let i = 0; i < cost.length; i++) {
    const n = cost[i];
    if (n === 0) continue;
    const state = limits[i];
    if (n > capacityOf(state) || algebraOf(state).earliest(state, now, at, n) > now) return false;
  }
  commitAll(ledger, now, at, cost, 1);
  return true;
}
