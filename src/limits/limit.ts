import * as check from '../validate.ts';

declare const brand: unique symbol;

/** All limits that were created. The ES module and the CommonJS module share it, since a process may load both. */
const registry = Symbol.for('rxjs-sluice.limits');
const made = /* @__PURE__ */ registered();

function registered(): WeakSet<object> {
  const shared = globalThis as { [registry]?: WeakSet<object> };
  shared[registry] ??= new WeakSet();
  return shared[registry];
}

/** The properties of every limit. Limits are created by the functions of this module only, and are immutable. */
interface Branded {
  readonly [brand]: true;
  /** Permits per `interval`. */
  readonly permits: number;
  /** The interval in milliseconds. */
  readonly interval: number;
}

/** A limit created by {@link slidingWindow}. */
export interface SlidingWindow extends Branded {
  readonly kind: 'slidingWindow';
  /** The times of the log are rounded up to multiples of this: milliseconds. */
  readonly resolution: number;
}

/** A limit created by {@link fixedWindow}. */
export interface FixedWindow extends Branded {
  readonly kind: 'fixedWindow';
  /** Where windows start: at the first permit, or at multiples of `interval` since 1970. */
  readonly align: 'first' | 'epoch';
}

/** A limit created by {@link tokenBucket} or {@link leakyBucket}. */
export interface TokenBucket extends Branded {
  readonly kind: 'tokenBucket';
  /** The most permits that the bucket holds. */
  readonly burst: number;
}

/** A limit, created by {@link slidingWindow}, {@link fixedWindow}, {@link tokenBucket} or {@link leakyBucket}. */
export type Limit = SlidingWindow | FixedWindow | TokenBucket;

/** The longest interval in milliseconds, 31 years: moments several intervals ahead are still exact in microseconds. */
export const longestInterval = 1e12;

/** Options that all limits have. */
export interface RateOptions {
  /** Permits per `interval`: a positive integer. `permits · interval` must be below 2^53, so that all counts are exact. */
  permits: number;
  /** The interval in milliseconds: a positive integer, at most 10^12 (31 years). */
  interval: number;
}

/** Options of {@link slidingWindow}. */
export interface SlidingWindowOptions extends RateOptions {
  /**
   * The times of the log are rounded up to multiples of so many milliseconds. Permits may come back up to that much later, and
   * never sooner. 1 keeps the exact log; `interval / N` is a window of N slots.
   *
   * A log that has 2,048 entries gets new ones at the default resolution, until it is shorter again.
   *
   * @default Math.max(1, Math.floor(interval / 1000))
   */
  resolution?: number | undefined;
}

/** Options of {@link fixedWindow}. */
export interface FixedWindowOptions extends RateOptions {
  /**
   * Where windows start: `'first'` at their first permit, `'epoch'` at multiples of `interval` since 1970.
   *
   * @default 'first'
   */
  align?: 'first' | 'epoch' | undefined;
}

/** Options of {@link tokenBucket}. */
export interface TokenBucketOptions extends RateOptions {
  /**
   * The most permits that the bucket holds, and the most of one request: a positive integer. `burst · interval` must be below
   * 2^53.
   *
   * @default permits
   */
  burst?: number | undefined;
}

/** The most permits of one request: those of a window, or the burst of a bucket. */
export function capacityOf(limit: { permits: number; burst?: number | undefined }): number {
  return limit.burst ?? limit.permits;
}

/** Whether a cost is more than the limits can ever grant; it has one number for each limit. */
export function exceeds(
  limits: readonly Parameters<typeof capacityOf>[0][],
  cost: readonly number[],
): boolean {
  for (let i = 0; i < cost.length; i++) if (cost[i] > capacityOf(limits[i])) return true;
  return false;
}

/** Whether a value is a limit. */
export function isLimit(value: unknown): value is Limit {
  return typeof value === 'object' && value !== null && made.has(value);
}

/** Throws for anything but a limit. */
export function assertLimit(name: string, value: unknown): asserts value is Limit {
  if (isLimit(value)) return;
  throw new TypeError(
    `${name}: expected a limit made by slidingWindow, fixedWindow, tokenBucket or leakyBucket, got ${check.show(value)}${suggestion(value)}`,
  );
}

/** A suggestion for callers that pass the options of a limit instead of a limit. */
function suggestion(value: unknown): string {
  if (!isRate(value)) return '';
  return `; did you mean slidingWindow({ permits: ${check.show(value.permits)}, interval: ${check.show(value.interval)} })?`;
}

/** Whether a value looks like the options of a limit. */
export function isRate(value: unknown): value is { permits: unknown; interval: unknown } {
  return typeof value === 'object' && value !== null && 'permits' in value && 'interval' in value;
}

/**
 * Returns a limit that grants at most `permits` in any window of `interval` ms, wherever the window starts.
 *
 * @param options `permits` per `interval` (ms), and the `resolution` (ms) of the log
 * @throws TypeError, RangeError for an invalid option
 * @example
 * slidingWindow({ permits: 100, interval: 1_000 });
 */
export function slidingWindow(options: SlidingWindowOptions): SlidingWindow {
  const { permits, interval } = rate(options, ['resolution']);
  const { resolution = Math.max(1, Math.floor(interval / 1000)) } = options;
  check.positiveInteger('resolution', resolution);
  if (resolution > interval)
    throw check.invalid('resolution', `at most the interval, ${interval} ms`, resolution, RangeError);
  return make({ kind: 'slidingWindow', permits, interval, resolution });
}

/**
 * Returns a limit that grants at most `permits` in each window of `interval` ms. The windows do not overlap.
 *
 * Around the end of a window, twice `permits` may be granted within one `interval`. Use it if the API counts like this.
 *
 * @param options `permits` per `interval` (ms), and where windows start (`align`)
 * @throws TypeError, RangeError for an invalid option
 * @example
 * fixedWindow({ permits: 5_000, interval: 3_600_000, align: 'epoch' });
 */
export function fixedWindow(options: FixedWindowOptions): FixedWindow {
  const { permits, interval } = rate(options, ['align']);
  const { align = 'first' } = options;
  check.oneOf('align', align, ['first', 'epoch']);
  return make({ kind: 'fixedWindow', permits, interval, align });
}

/**
 * Returns a bucket that refills continuously by `permits` per `interval` ms, holds at most `burst`, and starts full.
 *
 * @param options `permits` per `interval` (ms), and the `burst` (permits)
 * @throws TypeError, RangeError for an invalid option
 * @example
 * tokenBucket({ permits: 10, interval: 1_000, burst: 50 });
 */
export function tokenBucket(options: TokenBucketOptions): TokenBucket {
  const { permits, interval } = rate(options, ['burst']);
  const { burst = permits } = options;
  check.positiveInteger('burst', burst);
  product('burst', burst, interval);
  return make({ kind: 'tokenBucket', permits, interval, burst });
}

/**
 * Returns a limit that grants permits one at a time, evenly spaced: a token bucket with `burst: 1`.
 *
 * Granted moments are whole milliseconds, so the spacing is `interval / permits` rounded up or down: 900 permits a second are
 * granted 1 or 2 ms apart. The bucket holds one permit while no request waits. For a high rate of requests that do not
 * overlap, use a {@link tokenBucket} with a small `burst`.
 *
 * @param options `permits` per `interval` (ms)
 * @throws TypeError, RangeError for an invalid option
 * @example
 * leakyBucket({ permits: 1, interval: 250 });
 */
export function leakyBucket(options: RateOptions): TokenBucket {
  const { permits, interval } = rate(options);
  return make({ kind: 'tokenBucket', permits, interval, burst: 1 });
}

/** Checks the options that every limit has, and throws for unknown ones. */
function rate(options: RateOptions, further: string[] = []): RateOptions {
  check.options(options, ['permits', 'interval', ...further]);
  const { permits, interval } = options;
  check.positiveInteger('permits', permits);
  check.positiveInteger('interval', interval);
  if (interval > longestInterval)
    throw check.invalid('interval', 'at most 10^12 ms (31 years)', interval, RangeError);
  product('permits', permits, interval);
  return { permits, interval };
}

/** Throws if a count of permits, in a bucket's units of 1 / interval, would not be an exact integer. */
function product(name: string, count: number, interval: number): void {
  if (count * interval < 2 ** 53) return;
  throw new RangeError(`${name}: expected ${name} · interval below 2^53, got ${count} · ${interval}`);
}

type Fields<L> = L extends Limit ? Omit<L, typeof brand> : never;

function make<L extends Limit>(fields: Fields<L>): L {
  const limit = Object.freeze(fields);
  made.add(limit);
  return limit as unknown as L;
}
