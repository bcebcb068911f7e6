import { Observable, type Subscriber } from 'rxjs';
import type { Permits } from '../limits/cost.ts';
import type { Limiter, LimiterGroup } from '../port/line.ts';
import { lineOf } from '../port/lineOf.ts';
import type { Permit } from '../port/permit.ts';
import { planOf } from '../throttle/throttleOptions.ts';
import * as check from '../validate.ts';
import { BufferedPull } from './bufferedPull.ts';
import { checkInput, type PulledInput } from './input.ts';
import { keepErrors } from './nodeStream.ts';
import { Pull } from './pull.ts';

const allOptions = ['permits', 'timeout', 'project', 'maxAge', 'key', 'buffer'];

/** Options of {@link fromThrottled}. */
export interface FromThrottledOptions<P = Permits, T = unknown, R = T> {
  /**
   * Permits that every value costs: a positive integer, or a record of the names of several limits. With a limiter it cannot
   * be a function of the value, because a value is pulled only after its permits are granted.
   *
   * @default 1
   */
  permits?: P | undefined;
  /**
   * Milliseconds that a value may wait for its permits: may be fractional, 0 or Infinity.
   *
   * @default Infinity
   */
  timeout?: number | undefined;
  /**
   * Maps a value and its permit to the emitted value.
   *
   * @default the value itself
   */
  project?: ((value: T, permit: Permit<P>) => R) | undefined;
  /**
   * Milliseconds that a granted permit may wait for its value: may be fractional, or Infinity; less than 1 counts as 1. An older
   * permit is refunded, and the value waits for another one, for at most `timeout`. Without this bound, the values of a
   * quiet input could be emitted all at once on permits of long ago. With a group it has no effect, since no permit waits.
   *
   * @default a tenth of the shortest interval of the limits in force, at least 50
   */
  maxAge?: number | undefined;
}

/** Options of {@link fromThrottled} with a group: those of a limiter, `key`, and `buffer`. */
export interface FromThrottledByKeyOptions<P = Permits, T = unknown, R = T>
  extends Omit<FromThrottledOptions<P, T, R>, 'permits'> {
  /** Returns the key of a value. Values of one key keep their order, and do not wait for values of other keys. */
  key: (value: T) => string;
  /**
   * Values that may wait for their permits, of all keys together: a positive safe integer. The next value is pulled while
   * fewer wait.
   *
   * @default 1024
   */
  buffer?: number | undefined;
  /**
   * Permits that a value costs: a number, a record of the names of several limits, or a function of the value and its index.
   *
   * @default 1
   */
  permits?: P | ((value: T, index: number) => P) | undefined;
}

// The overloads of a limiter come last: the compiler's messages about wrong options are about the last one.
export function fromThrottled<T, P = Permits>(
  input: PulledInput<T>,
  group: LimiterGroup<P>,
  options: FromThrottledByKeyOptions<P, T> & { project?: undefined },
): Observable<T>;
export function fromThrottled<T, P = Permits, R = T>(
  input: PulledInput<T>,
  group: LimiterGroup<P>,
  options: FromThrottledByKeyOptions<P, T, R>,
): Observable<R>;
/**
 * Pulls values from an input as permits are granted, and emits them.
 *
 * With a limiter, a value is pulled when its permits are granted, and only then. With a group, up to `buffer` values are
 * pulled, and each waits for its permits at the limiter of its key, so that all keys make progress.
 *
 * With a leaky bucket of 1 permit per 3 frames; with the group, the key is the letter:
 *
 * ```
 * input    ['a', 'b', 'c']
 * limiter  a--b--c--|
 *
 * input    ['a1', 'a2', 'b1']
 * group    (a1,b1)--(a2|)
 * ```
 *
 * Memory stays bounded, even for an endless input. Each subscription iterates the input anew, if the input allows that.
 *
 * **End.** With a limiter, detecting the end of the input costs the permits of one more value. They are refunded. With a
 * group, completion waits for the waiting values.
 *
 * **Closing.** When the subscription ends before the input, the input is closed at once: an iterator by `return()`, a
 * `ReadableStream` by `cancel()`, and its lock is released, a Node stream by `destroy()`. The requests of waiting values are
 * cancelled, and their reservations refunded. An error while closing is reported as an unhandled error. An error that a Node
 * stream emits between two reads is passed on at once, and one from before the subscription, with it.
 *
 * **Prefetching.** With Redis, a permit costs a round trip. With a limiter, while values arrive at once, their permits are
 * therefore requested ahead: first one, then twice as many with every round trip, at most 1024, and no more than are granted
 * in a few round trips. When a value does not arrive within its turn of the event loop, all permits but its own are refunded.
 * With a `timeout`, permits are not requested ahead, because it bounds the wait for the permits of one value.
 *
 * **Buffer.** With a group, this is `throttleDistributed` over a source that is pulled while fewer than `buffer` values wait.
 * A pushed source cannot be slowed down, so `throttleDistributed` itself can only fail or drop values beyond its `maxQueue`.
 * Several keys make progress at the same time only while the buffer holds values of each. The values of a key that is paused
 * or slow can fill the buffer: then no value is pulled until one of them is emitted.
 *
 * @param input an iterable, an async iterable, a Node stream, or a WHATWG `ReadableStream`
 * @param limiter the limiter to acquire from, or a group
 * @param options `permits` for each value (1 by default), `timeout` (ms, Infinity by default), `project`, and `maxAge` (ms,
 * a tenth of the shortest interval by default); with a group, and only then, `key` and `buffer` (values, 1024 by default)
 * @returns an observable of the values, or of the results of `project`; it errors with the errors of the input and of the
 * options' functions, and with those that `limiter.acquire` rejects with
 * @throws TypeError, RangeError for an invalid argument
 * @example
 * fromThrottled(pagesOf(api), limiter, { timeout: 5_000 }).subscribe((page) => save(page));
 * @example
 * fromThrottled(urls, group, { key: (url) => new URL(url).host })
 *   .pipe(mergeMap((url) => fetch(url)))
 *   .subscribe(save);
 */
export function fromThrottled<T, P = Permits>(
  input: PulledInput<T>,
  limiter: Limiter<P>,
  options?: FromThrottledOptions<P, T> & { project?: undefined },
): Observable<T>;
export function fromThrottled<T, P = Permits, R = T>(
  input: PulledInput<T>,
  limiter: Limiter<P>,
  options: FromThrottledOptions<P, T, R>,
): Observable<R>;
export function fromThrottled<T, P, R>(
  input: PulledInput<T>,
  limiter: Limiter<P> | LimiterGroup<P>,
  options: Partial<FromThrottledByKeyOptions<P, T, R>> = {},
): Observable<T | R> {
  checkInput(input);
  const plan = planOf(limiter, options, allOptions);
  const { buffer, maxAge } = options;
  if (maxAge !== undefined) check.duration('maxAge', maxAge);
  if (plan.keyed) {
    const { buffer = 1_024 } = options;
    check.positiveInteger('buffer', buffer);
    keepErrors(input);
    return new Observable((output: Subscriber<R>) => new BufferedPull(output, plan, buffer).start(input));
  }
  if (buffer !== undefined) throw new TypeError('buffer: expected no buffer without a group');
  // This also throws if `permits` is a function.
  const permits = plan.permits as P;
  const line = lineOf(limiter as Limiter<P>, permits);
  keepErrors(input);
  return new Observable((output) =>
    new Pull<T, P, R>(output, line, { ...plan, permits, maxAge }).start(input),
  );
}
