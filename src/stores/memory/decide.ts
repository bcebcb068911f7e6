import type { Cost } from '../../limits/cost.ts';
import { exceeds } from '../../limits/limit.ts';
import type { DecideReply, LastMoment } from '../store.ts';
import { countContenders } from './contenders.ts';
import { lastOf } from './epochs.ts';
import { boundFrontier, grantAll } from './grant.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { offer } from './offer.ts';
import { availableNow, fullAt } from './openLedger.ts';
import { areRare, loadOf, strideOf } from './pace.ts';
import { turnOf } from './tickets.ts';
import { takeTurns } from './turns.ts';

/** Grants the cost if its permits are free now, and returns what is left. The twin of `lua/decide.lua`. */
export function decide(
  ledger: LedgerState,
  instant: Instant,
  client: string,
  cost: Cost,
  last?: LastMoment,
): DecideReply {
  const { now } = instant;
  const paced = countContenders(ledger.contenders, client, false, now) > 1 || now < ledger.pacedUntil;
  boundFrontier(ledger, now);
  const stride = paced ? strideOf(ledger, cost) : 0;
  let { t, wait, limiting } = offer(ledger, instant, cost, stride, lastOf(ledger, last));
  // A request that does not wait must not overtake clients that wait.
  if (paced && (areRare(ledger) || takeTurns(ledger, now)) && loadOf(ledger, cost) > 0)
    wait = Math.max(wait, Math.ceil(turnOf(ledger, client, now).delay * 1000));
  const tooMuch = exceeds(ledger.limits, cost);
  const granted = wait === 0 && !tooMuch;
  if (granted) grantAll(ledger, instant, t, cost, stride, 1);
  const available = availableNow(ledger, instant);
  const full = Math.max(fullAt(ledger, now), ledger.pausedUntil);
  const retryAfter = tooMuch ? Infinity : wait / 1000;
  // Without a spread, which takes longer than the rest of a decision.
  const reply: DecideReply = {
    granted,
    available,
    retryAfter,
    resetAfter: Math.max(0, full - instant.us / 1000),
  };
  if (!granted && cost.length > 1 && limiting !== undefined) reply.limiting = limiting;
  return reply;
}
