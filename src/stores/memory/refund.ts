import type { Cost } from '../../limits/cost.ts';
import { loadOf, longestInterval } from '../../limits/load.ts';
import { algebraOf } from '../../limits/states.ts';
import { small } from '../../small.ts';
import { debt, newestGrants, type Refund, type RefundReply } from '../store.ts';
import { chargeDebts } from './debts.ts';
import { validUntil } from './epochs.ts';
import { addHole, closeEnd, closeHoles } from './holes.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { moveUp } from './moveUp.ts';
import { newestOf } from './offer.ts';
import { goOnInTurns } from './order.ts';
import { areRare, noteCancelled, noteFreed, noteReturned } from './pace.ts';

/**
 * A sequence number is remembered for as long as a repeated call could restore anything: until all earlier grants have expired, and
 * one interval more, since a window that this call emptied may have started again. For at least this many milliseconds, since that
 * may be too short: a repeated release takes from newer grants, a bucket that has not been full since restores a grant of any age,
 * and a longer interval may have been stored in the meantime.
 */
const resent = 60_000;

/** The last refunds of a limiter object: their sequence number, and until when that is remembered. */
export interface LastRefunds {
  last: number;
  until: number;
}

/** Refunds grants and reservations, once per sequence number of a limiter object. The twin of `lua/refund.lua`. */
export function refund(
  ledger: LedgerState,
  instant: Instant,
  known: LastRefunds,
  refunds: readonly Refund[],
  sequence: number,
): RefundReply {
  if (known.until > instant.now && sequence <= known.last) return {};
  const restored = refunds.map((one) =>
    one.moment === debt ? charge(ledger, instant, one) : giveBack(ledger, instant, one),
  );
  known.last = sequence;
  known.until = Math.max(instant.now + resent, ledger.expires + longestInterval(ledger));
  // Now, not at the next call: by then, reservations that are more than the notice period ahead would be too near to move.
  moveUp(ledger, instant);
  return { restored };
}

/** Refunds one grant or reservation. Returns whether that restored permits to any limit. */
function giveBack(
  ledger: LedgerState,
  { now, at }: Instant,
  { moment, epoch, cost, count }: Refund,
): boolean {
  const isNewest = moment === newestGrants;
  const t = moment + ledger.shift;
  // Forgotten grants and void reservations no longer count.
  if (!isNewest && (epoch < ledger.refundable || t >= validUntil(ledger, epoch))) return false;
  const isAhead = !isNewest && t > now;
  // A release takes from all grants up to `at`. Refunding due holes first keeps it from taking the permits
  // that a hole is charged with.
  if (isNewest) closeHoles(ledger, now, at);
  if (now < ledger.pacedUntil) {
    // A reservation made under another rate may exceed what this one allows, so it must not become a hole.
    const isInside = isAhead && epoch === ledger.epoch && t < newestOf(ledger, cost, false);
    if (isInside && addHole(ledger, t, cost, count)) return true;
    if (isAhead) noteCancelled(ledger, now, cost, count);
    else noteReturned(ledger, isNewest ? 0 : now - t, cost, count);
  }
  let back = 0;
  cost.forEach((permits, i) => {
    const n = small(permits * count);
    const state = ledger.limits[i];
    if (n === 0) return;
    if (isNewest) back += algebraOf(state).release(state, now, at, n);
    else back += algebraOf(state).refund(state, now, t, n);
  });
  closeEnd(ledger, now);
  // Without a reservation ahead, nothing can move up.
  const isAwaited = now < ledger.pacedUntil || newestOf(ledger, cost, false) > at;
  const mayMoveUp = isAhead
    ? (back > 0 && isBeforeDebt(ledger, t, cost)) || hasWaitedForMore(ledger, now, at, cost)
    : back > 0 || areRare(ledger);
  if (mayMoveUp && isAwaited) {
    noteFreed(ledger, cost, count);
    if (now < ledger.pacedUntil) goOnInTurns(ledger, now, isNewest ? 0 : now - t, loadOf(ledger, cost));
  }
  return back > 0;
}

/** Whether a debt is charged later than `t`, of a limit that the cost is charged to: no client asks for an earlier moment for it. */
function isBeforeDebt({ debts }: LedgerState, t: number, cost: Cost): boolean {
  return debts.some(({ limit, until }) => cost[limit] > 0 && until > t);
}

/** Whether permits are free, but fewer than a request asked for: those behind it may have waited for it alone. */
function hasWaitedForMore({ limits }: LedgerState, now: number, at: number, cost: Cost): boolean {
  const isFree = (n: number, i: number) => algebraOf(limits[i]).hasGap(limits[i], now, at, n, Infinity, true);
  return cost.some((n, i) => n > 1 && isFree(1, i) && !isFree(n, i));
}

/** Charges permits that were used without a grant. */
function charge(ledger: LedgerState, instant: Instant, { cost, count }: Refund): boolean {
  const owed = cost.map((permits, limit) => ({ limit, until: 0, permits: small(permits * count), tail: 0 }));
  ledger.debts = [...ledger.debts, ...owed.filter(({ permits }) => permits > 0)];
  chargeDebts(ledger, instant);
  return false;
}
