import { cutFrom } from '../../limits/windows.ts';
import { noticePeriod } from '../store.ts';
import { chargeDebts } from './debts.ts';
import { voidReservations } from './epochs.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';
import { areRare, hasWindow } from './pace.ts';

/** The least time between two moves: milliseconds. */
const leastPause = 100;

/**
 * If permits were refunded, voids the reservations so far ahead that their clients call again in time. All of
 * these clients then reserve again, for earlier moments.
 */
export function moveUp(ledger: LedgerState, instant: Instant): void {
  const { now, us } = instant;
  const { limits, freed, movedAt, shift } = ledger;
  if (freed === 0 || now < movedAt + leastPause) return;
  // Clients that wait for a bucket take refunded permits ahead of the reservations, unless its permits are rare.
  if (now < ledger.pacedUntil && !hasWindow(ledger) && !areRare(ledger)) return;
  // Void are the reservations behind the slot of the last valid moment: a log keeps a whole slot, with all that is in it.
  const noticeUntil = now + noticePeriod;
  let slotEnd = noticeUntil;
  for (const state of limits)
    if (state.kind === 'slidingWindow')
      slotEnd = Math.ceil((slotEnd - 1) / state.coarsest) * state.coarsest + 1;
  let after = slotEnd;
  for (const state of limits) if (state.kind === 'fixedWindow') after = cutFrom(state, after);
  // After a change of the rate in this millisecond, an old window may count at the end of the notice period.
  const kept = Math.max(after - 1, noticeUntil);
  if (newestOf(ledger, undefined, false) <= kept) return;
  // The clients that reserve again get the refunded permits, and need not keep the pace for them.
  ledger.credit = freed;
  ledger.freed = 0;
  ledger.movedAt = now;
  voidReservations(ledger, now, after, us - shift * 1000, kept);
  // Permits that are free need not wait for the end of a long slot.
  if (after <= slotEnd)
    for (const state of limits)
      if (state.kind === 'slidingWindow') state.newest = Math.min(state.newest, noticeUntil);
  chargeDebts(ledger, instant);
}
