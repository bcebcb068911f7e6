import { Observable } from 'rxjs';
import type { Permits } from '../limits/cost.ts';
import type { Limiter } from '../port/line.ts';
import { lineOf } from '../port/lineOf.ts';
import type { Permit } from '../port/permit.ts';
import * as check from '../validate.ts';
import { checkInput, type PulledInput } from './input.ts';
import { Pull } from './pull.ts';

/** Options of {@link fromThrottled}. */
export interface FromThrottledOptions<P = Permits, T = unknown, R = T> {
  /**
   * Permits that every value costs: a positive integer, or a record of the names of several limits. It cannot be a function
   * of the value, because a value is pulled only after its permits are granted.
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
   * Milliseconds that a granted permit may wait for its value: may be fractional, or Infinity; the least is 1. An older
   * permit is refunded, and the value waits for another one, for at most `timeout`. Without this bound, the values of a
   * quiet input could be emitted all at once on permits of long ago.
   *
   * @default a tenth of the shortest interval of the limits in force, at least 50
   */
  maxAge?: number | undefined;
}

/**
 * Pulls a value from an input when its permits are granted, emits it, and only then pulls the next.
 *
 * With a leaky bucket of 1 permit per 3 frames:
 *
 * ```
 * input    ['a', 'b', 'c']
 * result   a--b--c--|
 * ```
 *
 * An endless input needs no memory, and no value is pulled before it can be emitted. Each subscription iterates the input
 * anew, if the input allows that.
 *
 * **End.** Detecting the end of the input costs the permits of one more value. They are refunded.
 *
 * **Closing.** When the subscription ends before the input, the input is closed at once: an iterator by `return()`, a
 * `ReadableStream` by `cancel()`, and its lock is released, a Node stream by `destroy()`. An error while closing is reported
 * as an unhandled error. An error that a Node stream emits between two reads is passed on at once.
 *
 * **Prefetching.** With Redis, a permit costs a round trip. While values arrive at once, their permits are therefore
 * requested ahead: first one, then twice as many with every round trip, at most 1024, and no more than are granted in a few
 * round trips. When a value does not arrive within its turn of the event loop, all permits but its own are refunded. With a
 * `timeout`, permits are not requested ahead, because it bounds the wait for the permits of one value.
 *
 * @param input an iterable, an async iterable, a Node stream, or a WHATWG `ReadableStream`
 * @param limiter the limiter to acquire from
 * @param options `permits` for each value (1 by default), `timeout` (ms, Infinity by default), `project`, and `maxAge` (ms,
 * a tenth of the shortest interval by default)
 * @returns an observable of the values, or of the results of `project`; it errors with the errors of the input and of
 * `project`, and with those that `limiter.acquire` rejects with
 * @throws TypeError, RangeError for an invalid argument
 * @example
 * fromThrottled(pagesOf(api), limiter, { timeout: 5_000 }).subscribe((page) => save(page));
 */
export function fromThrottled<T, P>(
  input: PulledInput<T>,
  limiter: Limiter<P>,
  options?: FromThrottledOptions<P, T> & { project?: undefined },
): Observable<T>;
export function fromThrottled<T, P, R>(
  input: PulledInput<T>,
  limiter: Limiter<P>,
  options: FromThrottledOptions<P, T, R>,
): Observable<R>;
export function fromThrottled<T, P, R>(
  input: PulledInput<T>,
  limiter: Limiter<P>,
  options: FromThrottledOptions<P, T, R> = {},
): Observable<T | R> {
  checkInput(input);
  check.options('options', options);
  check.knownOptions(options, ['permits', 'timeout', 'project', 'maxAge']);
  const { permits = 1 as P, timeout = Infinity, maxAge, project } = options;
  const line = lineOf(limiter, permits);
  check.duration('timeout', timeout);
  if (maxAge !== undefined) check.duration('maxAge', maxAge);
  if (project !== undefined) check.functionValue('project', project);
  const plan = { permits, timeout, maxAge, project };
  return new Observable((subscriber) => new Pull<T, P, R>(subscriber, line, plan).start(input));
}
