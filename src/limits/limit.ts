import { knownOptions, oneOf, options as optionsObject, positiveInteger, show } from '../validate.ts';

declare const brand: unique symbol;

/** All limits that were made, by the ES module and by the CommonJS one: a process may load both. */
const registry = Symbol.for('rxjs-sluice.limits');
const made = /* @__PURE__ */ registered();

function registered(): WeakSet<object> {
  const shared = globalThis as { [registry]?: WeakSet<object> };
  shared[registry] ??= new WeakSet();
  return shared[registry];
}

/** What every limit has: it can only be made by the functions of this module, and never changes. */
interface Branded {
  readonly [brand]: true;
  /** Permits per `interval`. */
  readonly permits: number;
  /** Milliseconds. */
  readonly interval: number;
}

/** A limit made by {@link slidingWindow}. */
export interface SlidingWindow extends Branded {
  readonly kind: 'slidingWindow';
  /** Milliseconds to which the log's times are rounded up. */
  readonly resolution: number;
}

/** A limit made by {@link fixedWindow}. */
export interface FixedWindow extends Branded {
  readonly kind: 'fixedWindow';
  /** What a window starts at: its first permit, or a multiple of `interval` since 1970. */
  readonly align: 'first' | 'epoch';
}

/** A limit made by {@link tokenBucket} or {@link leakyBucket}. */
export interface TokenBucket extends Branded {
  readonly kind: 'tokenBucket';
  /** The most permits that the bucket holds. */
  readonly burst: number;
}

/** How many permits may be granted in what time; made by {@link slidingWindow}, {@link fixedWindow}, {@link tokenBucket} or {@link leakyBucket}. */
export type Limit = SlidingWindow | FixedWindow | TokenBucket;

/** The longest interval, in milliseconds, 31 years: a moment that lies intervals ahead is still exact in microseconds. */
export const longestInterval = 1e12;

/** Permits per interval. */
export interface RateOptions {
  /** Permits per `interval`: a positive integer; `permits · interval` is at most 2^53 − 1, so that all counts are exact. */
  permits: number;
  /** Milliseconds: a positive integer, at most 10^12 (31 years). */
  interval: number;
}

/** Options of {@link slidingWindow}. */
export interface SlidingWindowOptions extends RateOptions {
  /**
   * Milliseconds to which the log rounds its times up, so that permits may return up to that much later, never sooner.
   * 1 keeps the exact log; `interval / N` is the window of N slots.
   *
   * @default Math.max(1, Math.floor(interval / 1000))
   */
  resolution?: number | undefined;
}

/** Options of {@link fixedWindow}. */
export interface FixedWindowOptions extends RateOptions {
  /**
   * Where windows start: `'first'` at a window's first permit, `'epoch'` at multiples of `interval` since 1970.
   *
   * @default 'first'
   */
  align?: 'first' | 'epoch' | undefined;
}

/** Options of {@link tokenBucket}. */
export interface TokenBucketOptions extends RateOptions {
  /**
   * The most permits that the bucket holds, and so the most that one request may ask for: a positive integer;
   * `burst · interval` is at most 2^53 − 1.
   *
   * @default permits
   */
  burst?: number | undefined;
}

/** The most permits that one request may ask of a limit: those of a window, the burst of a bucket. */
export function capacityOf(limit: { permits: number; burst?: number | undefined }): number {
  return limit.burst ?? limit.permits;
}

/** Whether a request asks for more than limits could ever grant; `cost` has the permits of each. */
export function exceeds(
  limits: readonly Parameters<typeof capacityOf>[0][],
  cost: readonly number[],
): boolean {
  for (let i = 0; i < cost.length; i++) if (cost[i] > capacityOf(limits[i])) return true;
  return false;
}

/** Whether a value was made by the functions of this module. */
export function isLimit(value: unknown): value is Limit {
  return typeof value === 'object' && value !== null && made.has(value);
}

/** Refuses what was not made by the functions of this module. */
export function assertLimit(name: string, value: unknown): asserts value is Limit {
  if (isLimit(value)) return;
  throw new TypeError(
    `${name}: expected a limit made by slidingWindow, fixedWindow, tokenBucket or leakyBucket, got ${show(value)}${meant(value)}`,
  );
}

/** What was probably meant by the options of a limit in the place of the limit itself. */
function meant(value: unknown): string {
  if (!isRate(value)) return '';
  return `; did you mean slidingWindow({ permits: ${show(value.permits)}, interval: ${show(value.interval)} })?`;
}

/** Whether a value that is no limit has what its options have. */
export function isRate(value: unknown): value is { permits: unknown; interval: unknown } {
  return typeof value === 'object' && value !== null && 'permits' in value && 'interval' in value;
}

/**
 * No window of `interval` ms, wherever it starts, sees more than `permits`.
 *
 * @param options `permits` per `interval` (ms), and the `resolution` (ms) of the log
 * @throws TypeError, RangeError for an option of the wrong type or out of range
 * @example
 * slidingWindow({ permits: 100, interval: 1_000 });
 */
export function slidingWindow(options: SlidingWindowOptions): SlidingWindow {
  const { permits, interval } = rate(options, ['resolution']);
  const { resolution = Math.max(1, Math.floor(interval / 1000)) } = options;
  positiveInteger('resolution', resolution);
  if (resolution > interval)
    throw new RangeError(`resolution: expected at most the interval, ${interval} ms, got ${resolution}`);
  return make({ kind: 'slidingWindow', permits, interval, resolution });
}

/**
 * A counter that starts anew with every window of `interval` ms.
 *
 * Twice `permits` can fall within one `interval` around a window's end: choose it where the other side counts that way.
 *
 * @param options `permits` per `interval` (ms), and where windows start (`align`)
 * @throws TypeError, RangeError for an option of the wrong type or out of range
 * @example
 * fixedWindow({ permits: 5_000, interval: 3_600_000, align: 'epoch' });
 */
export function fixedWindow(options: FixedWindowOptions): FixedWindow {
  const { permits, interval } = rate(options, ['align']);
  const { align = 'first' } = options;
  oneOf('align', align, ['first', 'epoch']);
  return make({ kind: 'fixedWindow', permits, interval, align });
}

/**
 * A bucket that refills continuously by `permits` per `interval` ms, holds at most `burst`, and starts full.
 *
 * @param options `permits` per `interval` (ms), and the `burst` (permits)
 * @throws TypeError, RangeError for an option of the wrong type or out of range
 * @example
 * tokenBucket({ permits: 10, interval: 1_000, burst: 50 });
 */
export function tokenBucket(options: TokenBucketOptions): TokenBucket {
  const { permits, interval } = rate(options, ['burst']);
  const { burst = permits } = options;
  positiveInteger('burst', burst);
  product('burst', burst, interval);
  return make({ kind: 'tokenBucket', permits, interval, burst });
}

/**
 * Permits come out one by one, evenly spaced: a token bucket that holds one.
 *
 * Moments are whole milliseconds, so the spacing is `interval / permits` rounded up or down: 900 a second are granted 1 or
 * 2 ms apart. That holds for permits that are waited for; what runs in while nobody waits is lost but for one permit, so for
 * many short requests a second take a {@link tokenBucket} with a small `burst`.
 *
 * @param options `permits` per `interval` (ms)
 * @throws TypeError, RangeError for an option of the wrong type or out of range
 * @example
 * leakyBucket({ permits: 1, interval: 250 });
 */
export function leakyBucket(options: RateOptions): TokenBucket {
  const { permits, interval } = rate(options);
  return make({ kind: 'tokenBucket', permits, interval, burst: 1 });
}

/** The options that every limit has; refuses those that this one does not know. */
function rate(options: RateOptions, further: string[] = []): RateOptions {
  if (options === undefined) throw new TypeError('options: expected an object, got undefined');
  optionsObject('options', options);
  knownOptions(options, ['permits', 'interval', ...further]);
  const { permits, interval } = options;
  positiveInteger('permits', permits);
  positiveInteger('interval', interval);
  if (interval > longestInterval)
    throw new RangeError(`interval: expected at most 10^12 ms (31 years), got ${interval}`);
  product('permits', permits, interval);
  return { permits, interval };
}

/** Tokens are counted in units of 1/interval: their number has to stay an exact integer. */
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
