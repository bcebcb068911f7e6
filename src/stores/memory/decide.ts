import type { Cost } from '../../limits/cost.ts';
import { exceeds } from '../../limits/limit.ts';
import { loadOf } from '../../limits/load.ts';
import type { DecideReply, LastMoment } from '../store.ts';
import { countOthers } from './contenders.ts';
import { none } from './createLedger.ts';
import { lastOf } from './epochs.ts';
import { boundFrontiers, grantAll } from './grant.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { offer, offerAhead } from './offer.ts';
import { availableNow, closeLedger } from './openLedger.ts';
import { orderOf } from './order.ts';
import { stridesOf } from './pace.ts';
import { takeNow } from './take.ts';
import { turnOf } from './tickets.ts';

/** Grants the cost if its permits are free now, closes the ledger, and returns what is left. The twin of `lua/decide.lua`. */
export function decide(
  ledger: LedgerState,
  instant: Instant,
  client: string,
  cost: Cost,
  last?: LastMoment,
): DecideReply {
  const { now } = instant;
  const others = countOthers(ledger.contenders, client, now);
  const paced = others > 1 || now < ledger.pacedUntil;
  const after = lastOf(ledger, now, last);
  boundFrontiers(ledger, now);
  const strides = paced ? stridesOf(ledger, cost) : none;
  const stride = Math.max(0, ...strides);
  const behind = offer(ledger, instant, cost, stride, after, others === 0 && after === 0);
  const mayPass = behind.wait > 0 && cost.length > 1;
  const ahead = mayPass ? offerAhead(ledger, instant, cost, stride, after, behind.t, 0) : undefined;
  let { t, wait } = ahead ?? behind;
  // A request that does not wait must not overtake clients that wait.
  if (paced && orderOf(ledger, others, [{ cost }]) && loadOf(ledger, cost) > 0) {
    const { isFirst, delay } = turnOf(ledger, client, now);
    if (!isFirst) wait = Math.max(wait, Math.ceil(delay * 1000));
  }
  const tooMuch = exceeds(ledger.limits, cost);
  const granted = wait === 0 && !tooMuch;
  if (granted) grantAll(ledger, instant, t, cost, strides, 1, true);
  const reply = replyOf(ledger, instant, granted, tooMuch ? Infinity : wait / 1000);
  const { limiting } = behind;
  if (!granted && cost.length > 1 && limiting !== undefined) reply.limiting = limiting;
  return reply;
}

/** The same for a reopened ledger and a client without reservations, and quicker if nobody waits. */
export function decideReopened(
  ledger: LedgerState,
  instant: Instant,
  client: string,
  cost: Cost,
): DecideReply {
  if (takeNow(ledger, instant, cost, true)) return replyOf(ledger, instant, true, 0);
  return decide(ledger, instant, client, cost);
}

function replyOf(ledger: LedgerState, instant: Instant, granted: boolean, retryAfter: number): DecideReply {
  const full = Math.max(closeLedger(ledger, instant), ledger.pausedUntil);
  const resetAfter = Math.max(0, full - instant.us / 1000);
  return { granted, available: availableNow(ledger, instant), retryAfter, resetAfter };
}
