import { capacityOf } from '../../limits/limit.ts';
import { algebraOf, type LimitState } from '../../limits/states.ts';
import { debt, newestGrants, type Refund, type RefundReply } from '../store.ts';
import { standingUntil } from './epochs.ts';
import { addHole, closeEnd, closeHoles } from './holes.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';
import { noteFreed, noteReturned } from './pace.ts';

/** A debt is charged up to so many windows, or bursts. */
const mostDebt = 1000;
/** Into so many parts a debt is split, unless a part would be more than a window, or a burst. */
const debtParts = 100;

/** Takes grants and reservations back, once for each sequence of a limiter. The twin of `lua/refund.lua`. */
export function refund(
  ledger: LedgerState,
  instant: Instant,
  line: string,
  refunds: readonly Refund[],
  sequence: number,
): RefundReply {
  const known = ledger.sequences?.get(line);
  if (known && known.until > instant.now && sequence <= known.last) return {};
  const restored = refunds.map((one) =>
    one.moment === debt ? charge(ledger, instant, one) : giveBack(ledger, instant, one),
  );
  return { restored };
}

/** Takes one back, and says whether that gave anything back to a limit. */
function giveBack(
  ledger: LedgerState,
  { now, at }: Instant,
  { moment, epoch, cost, count }: Refund,
): boolean {
  const isNewest = moment === newestGrants;
  const t = moment + ledger.shift;
  // Of what was forgotten or made void nothing counts any more.
  if (!isNewest && (epoch < ledger.refundable || t >= standingUntil(ledger, epoch))) return false;
  const isAhead = !isNewest && t > now;
  // A release takes from all that is granted by the time rounded up: no hole may lose what it is charged with.
  if (isNewest) closeHoles(ledger, now, at);
  if (now < ledger.pacedUntil) {
    // What was booked under another rate may be more than this one allows.
    const isInside = isAhead && epoch === ledger.epoch && t < newestOf(ledger, cost, false);
    if (isInside && addHole(ledger, t, cost, count)) return true;
    noteReturned(ledger, now, cost, count, isAhead);
  }
  let back = 0;
  cost.forEach((permits, i) => {
    const n = permits * count;
    const state = ledger.limits[i];
    if (n === 0) return;
    if (isNewest) back += algebraOf(state).release(state, now, at, n);
    else back += algebraOf(state).refund(state, now, t, n);
  });
  closeEnd(ledger, now);
  if (back > 0 && !isAhead) noteFreed(ledger, cost, count);
  return back > 0;
}

/** Charges what was used without being granted: no request waits for it. */
function charge({ limits }: LedgerState, instant: Instant, { cost, count }: Refund): boolean {
  cost.forEach((permits, i) => {
    if (permits > 0) chargeLimit(limits[i], instant, permits * count);
  });
  return false;
}

/** Charges what is free now, and the rest in parts, each at the moment at which it is free. */
function chargeLimit(state: LimitState, { now, at }: Instant, permits: number): void {
  const { available, commit, earliest, fit } = algebraOf(state);
  const most = capacityOf(state);
  let left = Math.min(permits, mostDebt * most);
  const part = Math.min(most, Math.ceil(left / debtParts));
  const free = Math.min(left, available(state, now, at));
  if (free > 0) commit(state, now, at, free);
  for (left -= free; left > 0; ) {
    const least = Math.min(left, part);
    const t = Math.max(at, earliest(state, now, at, least));
    const n = Math.min(left, fit(state, now, t, 1));
    if (!(n >= least)) throw new Error('the limits do not agree with what they offer');
    commit(state, now, t, n);
    left -= n;
  }
}

/**
 * A sequence is remembered for at least so many milliseconds. A release takes from what is there when it comes, a bucket that was
 * never full since gives back a grant of any time, and a longer interval may have been stored since.
 */
const resent = 60_000;

/**
 * Remembers the sequence for as long as the same call, made again, could take anything back: until all that stood before
 * it has come back, and for one interval more, as a window that it emptied may have started anew. Call it before the
 * ledger is closed.
 */
export function rememberSequence(
  ledger: LedgerState,
  { now }: Instant,
  line: string,
  sequence: number,
): void {
  ledger.sequences ??= new Map();
  for (const [name, { until }] of ledger.sequences) if (until <= now) ledger.sequences.delete(name);
  const longest = Math.max(...ledger.limits.map(({ interval }) => interval));
  ledger.sequences.set(line, { last: sequence, until: Math.max(now + resent, ledger.expires + longest) });
}
