import type { Cost } from '../limits/cost.ts';
import { capacityOf, type Limit, type SlidingWindow, type TokenBucket } from '../limits/limit.ts';

/** A log of so many entries gets new ones at a coarser resolution. */
const mostEntries = 2048;

/** Milliseconds until so many permits of each limit are free, Infinity if that is not known; see `Ledger.untilFree`. */
export type UntilFree = (permits: readonly number[]) => number;

/**
 * The least milliseconds after the last reservation until a limit has granted `asked` permits, whatever other clients do, if it
 * grants `reserved` ones at that moment.
 */
function leastTime(limit: Limit, asked: number, reserved: number, decided: boolean): number {
  const { permits, interval } = limit;
  // Reservations made under another limit may exceed this one: they expire together.
  const counted = Math.min(reserved, capacityOf(limit));
  const windows = Math.ceil((asked + counted) / permits);
  if (limit.kind === 'slidingWindow') return (windows - 1) * interval;
  // The rest of one window and the whole of the next can be granted together.
  if (limit.kind === 'fixedWindow') return Math.max(0, windows - (decided ? 1 : 2)) * interval;
  return Math.max(0, Math.floor(((decided ? asked : asked + counted - limit.burst) * interval) / permits));
}

/**
 * The least milliseconds after the last reservation until the limits have granted `asked` permits to the last request, which has
 * this cost. If a single limit has `decided` the moment of that reservation, a bucket then holds less than a millisecond's
 * refill, and a fixed window starts.
 */
export function leastWait(
  limits: readonly Limit[],
  cost: Cost,
  asked: readonly number[],
  reserved: readonly number[] = [],
  decided = false,
): number {
  let wait = 0;
  for (let i = 0; i < limits.length; i++)
    if (cost[i] > 0) wait = Math.max(wait, leastTime(limits[i], asked[i], reserved[i] ?? 0, decided));
  return wait;
}

/**
 * The milliseconds after which the limits have granted `asked` permits in any case, if no other client interferes: those of
 * `requests` requests, none of which asks for more than `most`. Infinity if that is not known.
 *
 * Of several limits, each may delay the others. The longest wait is known only while one window, or one burst, has the permits.
 */
export function mostWait(
  untilFree: UntilFree,
  limits: readonly Limit[],
  asked: readonly number[],
  most: readonly number[],
  requests: number,
): number {
  let further = 0;
  const first = new Array<number>(limits.length);
  for (let i = 0; i < limits.length; i++) {
    const limit = limits[i];
    // In each interval, a window grants all its permits but those that are too few for the next request.
    const unused = Math.max(0, Math.min(most[i], limit.permits) - 1);
    const part = firstOf(limit, asked[i], unused);
    if (part < asked[i])
      further += limits.length > 1 ? Infinity : furtherWait(limit, asked[i] - part, unused);
    if (limit.kind === 'tokenBucket') further += requests * rounding(limit, most[i]);
    first[i] = part;
  }
  if (further === Infinity) return Infinity;
  return untilFree(first) + further;
}

/** The part of the permits that can be free at once: whole intervals later, a window has granted the rest. */
function firstOf(limit: Limit, asked: number, unused: number): number {
  if (limit.kind === 'tokenBucket') return Math.min(asked, limit.burst);
  const kept = limit.permits - unused;
  return asked - Math.max(0, Math.ceil((asked - limit.permits) / kept)) * kept;
}

/** The milliseconds in which a limit grants permits after the first part. */
function furtherWait(limit: Limit, asked: number, unused: number): number {
  const { permits, interval } = limit;
  if (limit.kind === 'tokenBucket') return Math.ceil((asked * interval) / permits);
  const windows = asked / (permits - unused);
  return windows * interval + (limit.kind === 'slidingWindow' ? roundedUp(limit, windows) : 0);
}

/** The milliseconds by which the times of a log are rounded up, in so many windows after each other. */
function roundedUp({ permits, interval, resolution }: SlidingWindow, windows: number): number {
  const step = permits < mostEntries ? resolution : Math.max(resolution, Math.floor(interval / 1000));
  return interval % step === 0 ? step : step * windows;
}

/** Milliseconds that rounding a moment up may cost a request: a full bucket gains nothing meanwhile. */
function rounding({ permits, interval, burst }: TokenBucket, most: number): number {
  return interval % permits === 0 || most * interval + permits <= burst * interval ? 0 : 1;
}

/**
 * The most milliseconds until so many permits of each limit are free, if nothing is known but that no other client has
 * reservations.
 */
export function mostUntilFree(limits: readonly Limit[], permits: readonly number[]): number {
  let most = 0;
  for (let i = 0; i < limits.length; i++)
    if (permits[i] > 0) most = Math.max(most, timeFor(limits[i], permits[i]));
  return most;
}

function timeFor(limit: Limit, permits: number): number {
  const { interval } = limit;
  if (limit.kind === 'tokenBucket') return Math.ceil((permits * interval) / limit.permits);
  return interval + (limit.kind === 'slidingWindow' ? roundedUp(limit, 1) : 0);
}
