import { heard, voidBookings } from './epochs.ts';
import type { LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';

/** The least time by which the line moves up, and the least time between two such moves: milliseconds. */
const leastMove = 20;
const leastPause = 100;

/**
 * While several clients wait and permits have come back, makes void what is booked so far ahead that its clients hear of
 * it in time: all of them book again, and earlier.
 */
export function moveUp(ledger: LedgerState, now: number, serverUs: number): void {
  const { limits, freed, movedAt, pacedUntil } = ledger;
  if (freed === 0 || now >= pacedUntil || now < movedAt + leastPause) return;
  const shortest = Math.min(...limits.map(({ interval }) => interval));
  if (freed < Math.max(leastMove, shortest / 100)) return;
  const all = limits.map(() => 1);
  if (newestOf(ledger, all, false) <= now + heard) return;
  // What has come back is there for all who book again: none of them has to keep a pace for it.
  ledger.credit = freed;
  ledger.freed = 0;
  ledger.movedAt = now;
  voidBookings(ledger, now, now + heard, serverUs);
}
