import { type LastMoment, noticePeriod } from '../store.ts';
import { none } from './createLedger.ts';
import { cutLimit } from './debts.ts';
import type { LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';

/** The most changes that are kept. If there are more, the two oldest are merged. */
const mostVoids = 8;

export function changeEpoch(ledger: LedgerState, serverUs: number): void {
  ledger.epoch = Math.max(ledger.epoch + 1, serverUs);
}

/**
 * Voids the reservations for `after` or later: their clients call again before that moment. Changes the
 * epoch. The limits may keep those up to `kept`. The debts among them are to be charged again.
 */
export function voidReservations(
  ledger: LedgerState,
  now: number,
  after: number,
  serverUs: number,
  kept = after,
): void {
  ledger.frontiers = none;
  ledger.holes = ledger.holes.filter(({ moment }) => moment < after);
  ledger.debts = ledger.limits.flatMap((_, limit) => cutLimit(ledger, now, limit, kept));
  changeEpoch(ledger, serverUs);
  const voids = [...ledger.voids];
  while (voids.length > 1 && voids[0].from + noticePeriod <= now) voids.shift();
  voids.push({ epoch: ledger.epoch, from: after });
  if (voids.length > mostVoids) {
    const { from } = voids.shift()!;
    voids[0].from = Math.min(voids[0].from, from);
  }
  ledger.voids = voids;
}

/** Reservations of an epoch are void from this moment on: milliseconds, or Infinity. */
export function validUntil({ born, voids }: LedgerState, epoch: number): number {
  if (epoch < born) return 0;
  let until = Infinity;
  for (const { epoch: later, from } of voids) if (later > epoch) until = Math.min(until, from);
  return until;
}

/**
 * The last moment that a client has reserved, by the ledger's clock, or 0 if it has become void since the epoch that the client
 * knows. What was reserved before a change of the kind is due within the notice period; what was before a step of the clock seems
 * later than it is, but is no later than the newest reservation of all.
 */
export function lastOf(ledger: LedgerState, now: number, last: LastMoment | undefined, known = 0): number {
  if (!last) return 0;
  const moment = last.moment + ledger.shift;
  if (moment >= validUntil(ledger, Math.max(last.epoch, known))) return 0;
  if (last.epoch >= ledger.refundable) return moment;
  return Math.min(moment, now + noticePeriod, newestOf(ledger, undefined, false));
}

/** The moment by which every client has received the last of these changes, in milliseconds. */
export function noticeEnd({ voids }: LedgerState): number {
  return voids.length === 0 ? 0 : voids[voids.length - 1].from + noticePeriod;
}
