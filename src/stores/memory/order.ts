import { isShort, isSlow, mostLoad, shortestInterval } from '../../limits/load.ts';
import { noticePeriod } from '../store.ts';
import type { LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';
import { areRare, areReturned, hasKind, hasLarge, hasWindow, keptLoad, keptPart } from './pace.ts';
import { mostTickets } from './tickets.ts';

/** Clients take turns until so many milliseconds after they began to, or after the last refund since then. */
const turnsPeriod = 3000;
/**
 * They begin to when reservations move up; or, if at most this part of the permits is kept, with a refund that comes later after
 * its grant than this part of the interval. Slow requests begin to if so much of a sliding window is kept, or as soon as many
 * permits of a fixed one are refunded.
 */
const fewKept = 0.25;
const slowKept = 0.5;
const lateParts = 10;
/**
 * If many permits are refunded, clients wait in order instead while fewer requests than this are granted in an interval, refunded
 * ones among them, or while fewer than this fit into a fixed one; while a request takes at least `mostLoad` milliseconds; and while
 * one is large. In long intervals, they take turns all the same.
 */
const leastRequests = 12;
const leastInFixed = 9;
/**
 * In a short interval, they also wait in order if one request of each takes more than this part of it, or than the kept part:
 * nearly all permits are reserved then before they come back. Slow requests do if they take all of it, unless few are kept. Not
 * requests that take less than `leastOrdered` milliseconds, as so many more calls would cost more than the permits that stay unused.
 */
const mostReserved = 0.45;
const leastOrdered = 5;
/**
 * While permits of requests that take so many milliseconds come back late, and more than this part is kept, clients that wait in
 * order are granted free permits one after the other. If fewer are kept, most permits that one of them leaves would stay unused.
 */
const leastLate = 125;
const leastKept = 0.3;

/**
 * Whether permits have been refunded lately to windows whose reservations conflict with granting them again. Contenders then take
 * turns: they reserve nothing beyond the notice period, and each call is granted its client's part of the permits that are free.
 * Otherwise a client that keeps refunding, and calls for that, would be granted most of what it refunds. The twin of
 * `lua/ledger/order.lua`; what follows from it for a call is in `turns.ts`.
 */
function takeTurns(ledger: LedgerState, now: number): boolean {
  const { movedAt } = ledger;
  return movedAt !== 0 && now < movedAt + turnsPeriod && mayTakeTurns(ledger);
}

/** The load of a permit of the slowest limit: milliseconds. */
function slowestLoad({ limits }: LedgerState): number {
  return Math.max(...limits.map(({ interval, permits }) => interval / permits));
}

/** Whether the permits of a window are enough for turns, with requests that take at least so many milliseconds. */
function mayTakeTurns(ledger: LedgerState, least = 0): boolean {
  if (!hasWindow(ledger)) return false;
  if (!isShort(ledger) || !areReturned(ledger)) return true;
  const load = Math.max(least, slowestLoad(ledger));
  const room = hasKind(ledger, 'fixedWindow') ? load * leastInFixed : keptLoad(ledger, load) * leastRequests;
  return load < mostLoad && room <= shortestInterval(ledger) && !hasLarge(ledger, mostLoad);
}

/** Whether a short interval has so few permits for the contenders that reservations would leave refunded ones unused. */
function areFew(ledger: LedgerState, contenders: number): boolean {
  if (!hasWindow(ledger) || !isShort(ledger) || !areReturned(ledger)) return false;
  // A client without a ticket is behind all others.
  if (contenders > mostTickets) return false;
  const load = slowestLoad(ledger);
  const kept = keptPart(ledger);
  const most = kept > fewKept && isSlow(ledger, load) ? 1 : Math.max(mostReserved, kept);
  return load >= leastOrdered && load * contenders > most * shortestInterval(ledger);
}

/** How contenders wait if many permits are refunded: in turns, in order, or, if neither is needed, for their reservations. */
export function orderOf(ledger: LedgerState, now: number, contenders: number): 'turns' | 'order' | undefined {
  if (takeTurns(ledger, now)) return 'turns';
  return areFew(ledger, contenders) || areRare(ledger) ? 'order' : undefined;
}

function areFewKept(ledger: LedgerState, load: number): boolean {
  if (!isSlow(ledger, load)) return keptPart(ledger) <= fewKept;
  return hasKind(ledger, 'fixedWindow') ? areReturned(ledger) : keptPart(ledger) <= slowKept;
}

/**
 * A grant was refunded, so many milliseconds after it: turns go on, or begin if many come as late. Where clients wait in order, it
 * is noted that one came late.
 */
export function goOnInTurns(ledger: LedgerState, now: number, age: number, load: number): void {
  const isLate = shortestInterval(ledger) < age * lateParts;
  if ((isLate && isNoted(ledger, now, load)) || takeTurns(ledger, now)) ledger.movedAt = now;
}

/** Whether a late refund begins turns, or is noted where clients wait in order. */
function isNoted(ledger: LedgerState, now: number, load: number): boolean {
  if (!mayTakeTurns(ledger, load)) return load >= leastLate && hasWindow(ledger);
  // Further ahead, reservations move up first.
  return areFewKept(ledger, load) && newestOf(ledger, undefined, false) <= now + noticePeriod;
}

/**
 * Whether a client that waits in order, and has been granted `ahead` milliseconds of load more than the waiting one that has been
 * granted least, leaves it what is free: otherwise one that refunds late would take each permit again before the others call.
 */
export function leavesFree(ledger: LedgerState, now: number, ahead: number, load: number): boolean {
  return ahead >= load && now < ledger.movedAt + turnsPeriod && keptPart(ledger) > leastKept;
}
