import { isShort, isSlow, mostLoad, shortestInterval, slowRequest } from '../../limits/load.ts';
import type { TokenBucketState } from '../../limits/tokenBucket.ts';
import { noticePeriod, type Run } from '../store.ts';
import type { LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';
import {
  areRare,
  areReturned,
  hasKind,
  hasLarge,
  hasWindow,
  isLate,
  isRecent,
  keptLoad,
  keptPart,
} from './pace.ts';

/**
 * Clients begin to take turns when reservations move up; or with a late refund, if at most this part of the permits is kept, or, of slow
 * requests, if many are refunded.
 */
const mostInTurns = 0.7;
/**
 * If many permits are refunded, clients wait in order instead while fewer requests than this are granted in an interval, refunded
 * ones among them, or while fewer than this fit into a fixed one; while a request takes at least `mostLoad` milliseconds; and while
 * one is large. In long intervals, they take turns all the same, as that takes fewer calls.
 */
const leastRequests = 12;
const leastInFixed = 9;
/**
 * They also wait in order, in place of turns, if at most this part of the permits is kept, and one request of each takes
 * more than that part of the interval, and than the kept part: nearly all permits would be reserved before they come back.
 */
const mostInOrder = 0.9;
const mostReserved = 0.45;
/**
 * If at most this part is kept, so many requests are few, however few contenders there are: each is likely to be refunded and
 * granted again. Not slow ones of a window, of which a client that refunds would get more than others; and those of a bucket, for as
 * many contenders, only while permits come back late, as little is lost otherwise, or if one is for several permits.
 */
const keptOfFew = 0.6;
const fewForAny = 16;
/** The most tickets. A client without one is behind all of them. */
export const mostTickets = 64;
/**
 * They also wait in order for a bucket that holds fewer of the largest requests than this, and no more than contenders. For one
 * that holds a single permit, only if requests are slow, at most this part is kept, and what comes back is not late: that takes
 * many calls, and a client that cancels what it reserves gets more of such a bucket than others.
 */
const mostInBucket = 8;
const mostInLeaky = 0.8;
/** Of requests for several permits of a bucket, those that take at least so many milliseconds are slow. */
const leastInBucket = 15;
/** Slow requests of a fixed window for which turns may serve do so if they take all of it, unless at most this part is kept. */
const fewInFixed = 0.25;
/**
 * But while permits come back later than this part of the interval, and at most `mostInTurns` is kept, turns go before the order,
 * unless requests are slow.
 */
const veryLateParts = 3;
/** Of a sliding window, whose turns reserve nothing, also unless requests take at least so many milliseconds. */
const leastInSliding = 15;
/**
 * Of a fixed one, also unless it has fewer of the largest requests than `leastRequests`, or than so many for each contender: most
 * turns would be in vain.
 */
const leastGranted = 0.5;
/** If requests take less, refunds that are not late count, too, if at most this part is kept: reservations would leave some unused. */
const fewSoon = 0.15;
/**
 * While permits come back late, the first clients call again sooner, if a request takes at least so many milliseconds, and no more
 * of them fit an interval.
 */
const leastLate = 500;
const mostLate = 8;

/**
 * Whether permits have been refunded lately to windows whose reservations conflict with granting them again. Contenders then take
 * turns: they reserve nothing beyond the notice period, and each call is granted its client's part of the permits that are free.
 * Otherwise a client that keeps refunding, and calls for that, would be granted most of what it refunds. The twin of
 * `lua/ledger/order.lua`; what follows from it for a call is in `turns.ts`.
 */
function takeTurns(ledger: LedgerState): boolean {
  return isRecent(ledger, ledger.movedAt) && mayTakeTurns(ledger);
}

/** The load of a permit of the slowest limit: milliseconds. */
function slowestLoad({ limits }: LedgerState): number {
  return Math.max(...limits.map(({ interval, permits }) => interval / permits));
}

/** The load of the largest request of at least a client's share that waits, or was reserved lately, or 0: milliseconds. */
function largestLoad({ largest, largestUntil, seen }: LedgerState): number {
  return largestUntil > seen ? largest : 0;
}

/** Whether the permits of a window are enough for turns, with requests that take at least so many milliseconds. */
function mayTakeTurns(ledger: LedgerState, least = 0): boolean {
  if (!hasWindow(ledger)) return false;
  if (!isShort(ledger) || !areReturned(ledger)) return true;
  const load = Math.max(least, slowestLoad(ledger));
  const room = hasKind(ledger, 'fixedWindow') ? load * leastInFixed : keptLoad(ledger, load) * leastRequests;
  return load < mostLoad && room <= shortestInterval(ledger) && !hasLarge(ledger, mostLoad);
}

/** Whether there are so few permits for the contenders that reservations would leave refunded ones unused. */
function areFew(ledger: LedgerState, contenders: number): boolean {
  const kept = keptPart(ledger);
  // A client without a ticket is behind all others.
  if (kept > mostInOrder || contenders > mostTickets) return false;
  if (ledger.limits.some((limit) => limit.kind === 'tokenBucket' && isSmall(ledger, limit, contenders)))
    return true;
  // In a long interval, a large request would let smaller ones wait for most of it.
  const load = Math.max(slowestLoad(ledger), isShort(ledger) ? largestLoad(ledger) : 0);
  const isInTurns = hasKind(ledger, 'fixedWindow') && isSlow(ledger, load) && mayTakeTurns(ledger, load);
  const most = isInTurns && kept > fewInFixed ? 1 : Math.max(mostReserved, kept);
  return (
    hasWindow(ledger) && load * Math.max(fewOf(ledger, load), contenders) > most * shortestInterval(ledger)
  );
}

/** So many requests of a load are few, whatever the number of contenders: 0 unless they are fast, and most are refunded. */
function fewOf(ledger: LedgerState, load: number): number {
  return isShort(ledger) && load < slowRequest && keptPart(ledger) <= keptOfFew ? fewForAny : 0;
}

/** Whether a bucket holds so few requests that what comes back overflows it before the last of the reservations. */
function isSmall(ledger: LedgerState, limit: TokenBucketState, contenders: number): boolean {
  const permit = limit.interval / limit.permits;
  const load = Math.max(permit, largestLoad(ledger));
  const kept = keptPart(ledger);
  const isLate = isRecent(ledger, ledger.lateAt);
  // In a bucket of one permit, what comes back before a reservation is lost: that which comes late, in any case.
  if (limit.burst === 1 && (load < slowRequest || kept > mostInLeaky || isLate)) return false;
  // Slow requests wait for long, so reservations would keep what comes back late from others; and of what comes back, those for many
  // permits would get next to nothing, as others take it one by one. Of many clients, that takes many calls.
  const isLarge = load > slowestLoad(ledger) && isSlow(ledger, load, leastInBucket);
  const waitsLong = isLarge || (isLate && isSlow(ledger, load));
  if (waitsLong && kept <= keptOfFew && contenders <= fewForAny) return true;
  const requests = Math.max(fewOf(ledger, permit), Math.min(mostInBucket, contenders + 1));
  return limit.burst * limit.interval < limit.permits * load * requests;
}

/** The ledger with the limits alone that requests need: a rare one would have those wait in order that do not need it. */
function neededBy(ledger: LedgerState, requests: readonly Pick<Run, 'cost'>[]): LedgerState {
  const limits = ledger.limits.filter((_, i) => requests.some(({ cost }) => cost[i] > 0));
  return limits.length > 0 && limits.length < ledger.limits.length ? { ...ledger, limits } : ledger;
}

/**
 * How contenders with these requests wait if many permits are refunded: in turns, in order, or, if neither is needed, for their
 * reservations.
 */
export function orderOf(
  all: LedgerState,
  contenders: number,
  requests: readonly Pick<Run, 'cost'>[],
): 'turns' | 'order' | undefined {
  const ledger = neededBy(all, requests);
  const takesTurns = takeTurns(ledger);
  if (areFew(ledger, contenders) && !(takesTurns && goFirst(ledger, contenders))) return 'order';
  if (takesTurns) return 'turns';
  return areRare(ledger) ? 'order' : undefined;
}

/**
 * Whether turns go before the order. Not for slow requests, of which single clients would wait for long, nor if a fixed window has
 * few of the largest requests.
 */
function goFirst(ledger: LedgerState, contenders: number): boolean {
  const load = slowestLoad(ledger);
  if (isSlow(ledger, load) || !isRecent(ledger, ledger.lateAt) || keptPart(ledger) > mostInTurns)
    return false;
  const largest = Math.max(load, largestLoad(ledger));
  if (hasKind(ledger, 'slidingWindow') && largest >= leastInSliding) return false;
  const least = Math.max(leastRequests, contenders * leastGranted);
  return !hasKind(ledger, 'fixedWindow') || largest * least <= shortestInterval(ledger);
}

/** A grant was refunded, so many milliseconds after it: turns go on, or begin if enough came back. */
export function goOnInTurns(ledger: LedgerState, now: number, age: number, load: number): void {
  if (shortestInterval(ledger) < age * veryLateParts) ledger.lateAt = now;
  const isFast = isShort(ledger) && hasKind(ledger, 'slidingWindow') && slowestLoad(ledger) < leastInSliding;
  const counts = isLate(ledger, age) || (isFast && keptPart(ledger) <= fewSoon);
  const begins =
    counts &&
    mayTakeTurns(ledger, load) &&
    areEnough(ledger, load) &&
    // If reservations are further ahead, these move up first.
    newestOf(ledger, undefined, false) <= now + noticePeriod;
  if (begins || ((counts || !isFast) && takeTurns(ledger))) ledger.movedAt = now;
}

/** Whether so many permits are refunded that turns may begin. */
function areEnough(ledger: LedgerState, load: number): boolean {
  return isSlow(ledger, load) ? areReturned(ledger) : keptPart(ledger) <= mostInTurns;
}

/**
 * Whether clients that wait in order call at the pace, not at the full rate: several windows grant at the pace in order, too. While
 * permits come back late, few are free so soon.
 */
export function callAtPace(ledger: LedgerState): boolean {
  return ledger.limits.length > 1 && !hasKind(ledger, 'tokenBucket') && !isRecent(ledger, ledger.lateAt);
}

/** Whether the first clients call again sooner: permits of few a second come back at any time, and are granted again at once. */
export function callSooner(ledger: LedgerState): boolean {
  const load = slowestLoad(ledger);
  return load >= leastLate && load * mostLate >= shortestInterval(ledger) && isRecent(ledger, ledger.lateAt);
}
