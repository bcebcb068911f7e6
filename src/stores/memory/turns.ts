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
/** The most milliseconds between two calls of a client that takes turns. */
export const mostTurn = 1250;
/** Milliseconds between the calls of two contenders in a long interval. */
const longPause = 250;
/**
 * In a short interval, a call comes each time in which the kept permits of this part of the interval are granted: but no less
 * than one request of the client, and no more than its first ones of equal costs.
 */
const pausePart = 0.01;
/**
 * That time is so many times as long after a call for which nothing was free, as most calls are in vain then: not for slow requests,
 * between whose calls many permits would come back unused.
 */
const inVain = 3;
/**
 * That time is half as long if so many calls like this one could be granted all that they ask for: if each is for one request, or
 * no client reserves permits in front of its next call.
 */
const manyFree = 2;
/**
 * There, a client may be ahead of another one by so many of the other's requests, if these are no larger than its own: otherwise
 * permits for which the other one has not called yet stay unused.
 */
const lead = 5;
/** The same for slow requests, of which a client that is ahead keeps others waiting for long. */
const slowLead = 3;
/** A client whose slow request stays queued has a claim to so many of it: fewer than `slowLead`, so that none is held up for ever. */
const slowClaim = 2;

/**
 * Whether permits have been refunded lately to windows whose reservations conflict with granting them again. Contenders then take
 * turns: they reserve nothing beyond the notice period, and each call is granted its client's part of the permits that are free.
 * Otherwise a client that keeps refunding, and calls for that, would be granted most of what it refunds. The twin of
 * `lua/ledger/turns.lua`; what follows from it for a call is in `lua/reserve/turns.lua`.
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

/**
 * Whether clients that take turns reserve nothing at all, if many permits are refunded. A permit of a sliding window cannot be
 * granted again before a reservation that needs it.
 */
export function reservesNothing(ledger: LedgerState): boolean {
  return isShort(ledger) && areReturned(ledger) && hasKind(ledger, 'slidingWindow');
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
 * Whether a client that waits in order, and has been granted more than the waiting one that has been granted least, leaves it what
 * is free: otherwise one that refunds late would take each permit again before the others call.
 */
export function leavesFree(ledger: LedgerState, now: number, { taken, least }: Taken, load: number): boolean {
  return taken - least >= load && now < ledger.movedAt + turnsPeriod && keptPart(ledger) > leastKept;
}

/** What a client asks for in its turn. */
export interface Asked {
  contenders: number;
  /** How many requests of the same cost the call begins with. */
  asked: number;
  /** How many requests could be granted at the first of them. */
  free: number;
}

/** What a client has taken in its turns. */
export interface Taken {
  client: string;
  contenders: number;
  /** Milliseconds of load. */
  taken: number;
  /** The same of the waiting client that has taken least. */
  least: number;
}

/**
 * What a client that calls has taken in its turns. One that calls for the first time has taken as much as the waiting client that
 * has taken least; and one that did not wait since its last call has no claim to what others took meanwhile.
 */
export function takenBy({ tickets }: LedgerState, client: string): { taken: number; least: number } {
  let own = 0;
  let least = Infinity;
  for (const ticket of tickets) {
    if (ticket.client === client) own = ticket.taken;
    if (ticket.stride > 0) least = Math.min(least, ticket.taken);
  }
  if (least === Infinity) least = own;
  return { taken: Math.max(own, least), least };
}

/**
 * What a client counts as having taken whose request stays queued: its claim is no larger than that request, or two slow ones, so
 * that one whose request is too large, or needs another limit, holds up no others for ever.
 */
export function keepClaim(ledger: LedgerState, taken: number, load: number): number {
  const most = load * (isSlow(ledger, load) ? slowClaim : 1);
  return ledger.tickets.reduce((claimed, ticket) => Math.max(claimed, ticket.taken - most), taken);
}

/**
 * How many requests of `load` milliseconds a client may be granted of so many that are `free`: as long as enough is left for
 * each waiting client that has taken less to take as much. A client may be ahead of another one by its own last requests, and by
 * less than the other's next one: permits for a larger request are saved up once the others have taken as much.
 */
export function grantedInTurn(ledger: LedgerState, call: Taken, free: number, load: number): number {
  let granted = 0;
  let beyond = Math.max(1, free) + 1;
  while (granted < beyond - 1) {
    const middle = Math.floor((granted + beyond) / 2);
    const kept = keptForOthers(ledger, call, call.taken + (middle - 1) * load, load);
    if (kept === 0 || (free - middle) * load >= kept) granted = middle;
    else beyond = middle;
  }
  return granted;
}

/** What the others may take until each has as much as a client that has taken `taken`, with a request of `load`. */
function keptForOthers(ledger: LedgerState, call: Taken, taken: number, load: number): number {
  const { client, contenders, least } = call;
  let kept = 0;
  let others = contenders - 1;
  const most = isSlow(ledger, load) ? slowLead : isShort(ledger) ? lead : 1;
  for (const ticket of ledger.tickets) {
    if (ticket.client === client) continue;
    others--;
    const behind = taken - ticket.taken;
    const isLarger = ticket.stride > load;
    if (ticket.stride > 0 && behind >= ticket.stride * (isLarger ? 1 : most)) kept += behind;
  }
  // Those that have not called yet have taken as much as the one that has taken least.
  return kept + (taken - least) * Math.max(0, others);
}

/**
 * When a client that takes turns is to call again: the first moment after those of the others that leaves them all equally long
 * pauses, so that no permit is free for long, and few calls come when none is. The next request of `load` milliseconds could be
 * granted at `t` if no permits come back. The longer none have, the later others are likely to: but not later than `t`.
 */
export function nextTurn(
  ledger: LedgerState,
  now: number,
  t: number,
  { contenders, free, asked }: Asked,
  load: number,
): number {
  let pause = longPause;
  if (isShort(ledger))
    pause = keptLoad(ledger, Math.min(asked * load, Math.max(load, shortestInterval(ledger) * pausePart)));
  if (free === 0) pause *= isSlow(ledger, load) ? 1 : inVain;
  else if (free >= manyFree * asked && (asked === 1 || reservesNothing(ledger))) pause /= 2;
  let turn = now;
  for (const { due } of ledger.tickets) turn = Math.max(turn, due);
  // Turns that clients had before they called again leave gaps: the line is no longer than all contenders take.
  turn = Math.max(now + 1, pause + Math.min(turn, now + (contenders - 1) * pause));
  return Math.min(now + mostTurn, turn + now - ledger.movedAt, Math.max(turn, t));
}
