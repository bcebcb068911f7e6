import type { Cost } from '../../limits/cost.ts';
import { loadOf, longestInterval, shortestInterval } from '../../limits/load.ts';
import type { LimitState } from '../../limits/states.ts';
import type { LedgerState } from './ledgerState.ts';

/**
 * Under contention a window grants at no more than 1/0.8 of its rate, so that bursts do not repeat every
 * interval.
 */
const pacing = 0.8;
/** A fixed one of which permits come back late, at no more than 1/0.4: little of it may be left to grant these again. */
const latePacing = 0.4;
/**
 * Clients take turns until so many milliseconds after they began to, or after the last refund since then. Refunds that come later
 * than a third of the interval count for as long.
 */
const turnsPeriod = 3000;
/**
 * The refunded part is measured over this many milliseconds at the full rate, or over this many requests if
 * they take longer.
 */
const memory = 1000;
const requests = 16;
/** The most milliseconds by which a request moves a frontier, so that a daily limit is granted soon after it resets. */
export const mostStride = 1000;
/**
 * A large request moves that of a sliding window by this part of the interval at most, or by as much as one permit: what is granted
 * later expires later, so a smaller request behind it would leave permits unused in each interval.
 */
const strideParts = 12;
/** The least part of the permits that is taken to be kept. */
const leastPart = 0.05;

/**
 * Permits are rare if one of them, or the largest request, takes at least this many milliseconds at the full rate. In a
 * sliding window, a permit that is granted again expires later than the next reservation needs, so fewer milliseconds suffice.
 */
const rareLoad = 200;
const rareInSliding = 100;
/** That time, divided by the part of permits that is not refunded, must also be at least this many milliseconds. */
const rareKept = 500;
/** A refund is late if it comes later after its grant than this part of the interval. */
const lateParts = 10;
/** A refund after the interval, of which nothing comes back, counts as this part: others are likely to come earlier. */
const leastBack = 0.2;
/** Permits are shared in another way if at most this part of them is kept, that is, not refunded. */
const mostKept = 0.875;

/** Whether a limit is of a kind. */
export function hasKind({ limits }: LedgerState, kind: LimitState['kind']): boolean {
  return limits.some((limit) => limit.kind === kind);
}

export function hasWindow(ledger: LedgerState): boolean {
  return hasKind(ledger, 'fixedWindow') || hasKind(ledger, 'slidingWindow');
}

/**
 * Milliseconds of load that came back and may be granted ahead of the reservations. Without contention, only that for which
 * reservations became void: of a coarse slot of a log only its end is known, so a valid reservation might still be in it. Before a
 * debt, all that came back to a fixed window.
 */
export function freedOf(ledger: LedgerState, now: number): number {
  const { freed, credit, pacedUntil } = ledger;
  if (now < pacedUntil) return freed;
  return hasKind(ledger, 'fixedWindow') && !hasKind(ledger, 'slidingWindow')
    ? Math.max(freed, credit)
    : credit;
}

/** The part of the permits granted lately that was not refunded. */
export function keptPart({ granted, returned }: LedgerState): number {
  return granted > 0 ? 1 - returned / granted : 1;
}

/** Whether many of the permits are refunded. */
export function areReturned(ledger: LedgerState): boolean {
  return keptPart(ledger) <= mostKept;
}

/** Whether permits are so rare, and so many are refunded, that reservations far ahead would leave them unused. */
export function areRare(ledger: LedgerState): boolean {
  if (!areReturned(ledger)) return false;
  return ledger.limits.some(({ kind, interval, permits }) => {
    const least = kind === 'slidingWindow' ? rareInSliding : rareLoad;
    return interval >= permits * leastRare(ledger, least) || hasLarge(ledger, least);
  });
}

function leastRare(ledger: LedgerState, least: number): number {
  return Math.max(least, rareKept * keptPart(ledger));
}

/** Whether a request of so many milliseconds or more waits, and makes permits rare if many are refunded. */
export function hasLarge(ledger: LedgerState, least: number): boolean {
  return ledger.largestUntil > ledger.seen && ledger.largest >= leastRare(ledger, least);
}

/**
 * Milliseconds by which a request moves the frontier of each limit: 0 of a bucket. Only the part of grants that is not likely to be
 * refunded counts.
 */
export function stridesOf(ledger: LedgerState, cost: Cost): number[] {
  const isFast = areReturned(ledger) && isRecent(ledger, ledger.lateAt) && hasKind(ledger, 'fixedWindow');
  const pace = isFast ? latePacing : pacing;
  return ledger.limits.map(({ kind, interval, permits }, i) => {
    if (kind === 'tokenBucket') return 0;
    const most = kind === 'slidingWindow' ? interval / Math.min(permits, strideParts) : mostStride;
    return keptLoad(ledger, Math.min(mostStride, most, (pace * cost[i] * interval) / permits));
  });
}

/** The part of a load that is not likely to be refunded; of windows that keep the pace, the milliseconds in which it is granted. */
export function keptLoad(ledger: LedgerState, load: number, isPaced = false): number {
  return load * Math.max(leastPart, keptPart(ledger)) * (isPaced ? pacing : 1);
}

/** Counts requests that were granted or reserved at a pace. */
export function noteGranted(ledger: LedgerState, cost: Cost, count: number): void {
  const load = loadOf(ledger, cost);
  ledger.granted += load * count;
  if (ledger.granted <= Math.max(memory, requests * load)) return;
  ledger.granted /= 2;
  ledger.returned /= 2;
}

/** Counts reservations that were given back before their moment: they move the frontiers back by their whole strides. */
export function noteCancelled(ledger: LedgerState, now: number, cost: Cost, count: number): void {
  const strides = stridesOf(ledger, cost);
  ledger.frontiers = ledger.frontiers.map((frontier, i) => Math.max(now, frontier - strides[i] * count));
  ledger.granted = Math.max(0, ledger.granted - loadOf(ledger, cost) * count);
  ledger.returned = Math.min(ledger.granted, ledger.returned);
}

/** Counts grants that were refunded at an age: they lower future strides. */
export function noteReturned(ledger: LedgerState, age: number, cost: Cost, count: number): void {
  const returned = ledger.returned + loadOf(ledger, cost) * count * partBack(ledger, age);
  ledger.returned = Math.min(ledger.granted, returned);
}

/** Whether a moment, or 0 for none, is in the last seconds. */
export function isRecent({ seen }: LedgerState, moment: number): boolean {
  return moment !== 0 && seen < moment + turnsPeriod;
}

/** Whether so many milliseconds are a late age for a refund. */
export function isLate(ledger: LedgerState, age: number): boolean {
  return shortestInterval(ledger) < age * lateParts;
}

/**
 * How much of a permit that is refunded at this age comes back. A late one of a window counts for the rest of the interval, as it
 * is granted again as much less often. A fixed window grants more of its permits early, so more come back before it ends. A bucket
 * returns all of it.
 */
function partBack(ledger: LedgerState, age: number): number {
  if (!hasWindow(ledger) || !isLate(ledger, age)) return 1;
  const passed = Math.min(1, age / longestInterval(ledger));
  return Math.max(leastBack, 1 - (hasKind(ledger, 'fixedWindow') ? (passed * (3 + passed)) / 4 : passed));
}

/** Counts requests that were granted from the refunded permits. */
export function noteTaken(ledger: LedgerState, cost: Cost, count: number): void {
  ledger.freed = Math.max(0, ledger.freed - loadOf(ledger, cost) * count);
}

/** Counts the load of refunded grants, up to one interval. */
export function noteFreed(ledger: LedgerState, cost: Cost, count: number): void {
  ledger.freed = Math.min(longestInterval(ledger), ledger.freed + loadOf(ledger, cost) * count);
}
