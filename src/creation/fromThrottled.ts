import { Observable } from 'rxjs';
import type { Permits } from '../limits/cost.ts';
import { checkPermits } from '../port/checkPermits.ts';
import type { Limiter } from '../port/line.ts';
import { lineOf } from '../port/lineOf.ts';
import type { Permit } from '../port/permit.ts';
import * as check from '../validate.ts';
import { checkInput, type PulledInput } from './input.ts';
import { Pull } from './pull.ts';

/** Options of {@link fromThrottled}. */
export interface FromThrottledOptions<P = Permits, T = unknown, R = T> {
  /**
   * Permits that every value costs: a positive integer, or for a record of limits a record of their names. It is no
   * function of the value, which is not known before its permits are there.
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
   * What is emitted for a value and its permit.
   *
   * @default the value
   */
  project?: ((value: T, permit: Permit<P>) => R) | undefined;
  /**
   * Milliseconds that a permit may wait for its value: may be fractional, or Infinity; below 1 it is 1. One that has waited
   * for longer is given back, and the value, when it comes, waits for a fresh one, for `timeout` at most: so values of quiet
   * inputs do not leave all at once on permits of long ago.
   *
   * @default a tenth of the shortest interval of the limits in force, at least 50
   */
  maxAge?: number | undefined;
}

/**
 * Pulls a value from an input when its permits are there, emits it, and only then pulls the next.
 *
 * With a leaky bucket of 1 permit per 3 frames:
 *
 * ```
 * input    ['a', 'b', 'c']
 * result   a--b--c--|
 * ```
 *
 * So an endless input needs no memory, and nobody is asked for what cannot be used yet. A permit does not wait for its
 * value for longer than `maxAge`: it is given back, and the value waits for a fresh one. An input shows its end only
 * when it is asked for one more value: that waits for permits too, and may time out; they are then given back, like all
 * whose value does not come. Each subscription reads the input anew, where the input allows that. An input that has not
 * ended when the subscription ends is closed at once: by `return()`, or `cancel()` on a stream, whose lock is released.
 * What closing fails with is reported as an unhandled error. A Node stream is closed by `destroy()`, also before its first
 * value and during a read; where it fails, the subscriber hears of it at once, and not only with the next permit, and what
 * it fails with after it was left is kept to itself.
 *
 * With Redis, where a permit costs a round trip, those of the next values are asked for ahead while values come at once:
 * at first none, then twice as many with every round trip, 1024 at most, and no more than are granted in a few round
 * trips. A value that keeps its reader waiting for more than promises gives them all back but its own. With a `timeout`
 * nothing is asked for ahead: it bounds the wait for the permits of one value, and not that behind others.
 *
 * @param input an iterable, an async iterable, a Node stream, or a WHATWG `ReadableStream`
 * @param limiter the limiter whose permits the values cost
 * @param options `permits` for each value (1 by default), `timeout` (ms, Infinity by default), which bounds the wait for
 * them alone, `project`, which hands the permit on, and `maxAge` (ms, a tenth of the interval by default), which bounds
 * their wait for the value
 * @returns an observable of the values, or of what `project` makes of them; it errors as the input does, and as
 * `limiter.acquire` rejects: `ERR_SLUICE_TIMEOUT`, `ERR_SLUICE_PERMITS`, `ERR_SLUICE_QUEUE`, `ERR_SLUICE_CLOSED`, and
 * those of the store
 * @throws TypeError, RangeError for an argument of the wrong type or out of range
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
  const line = lineOf(limiter);
  check.options('options', options);
  check.knownOptions(options, ['permits', 'timeout', 'project', 'maxAge']);
  const { permits = 1 as P, timeout = Infinity, maxAge, project } = options;
  checkPermits(line, permits);
  check.duration('timeout', timeout);
  if (maxAge !== undefined) check.duration('maxAge', maxAge);
  if (project !== undefined) check.functionValue('project', project);
  const plan = { permits, timeout, maxAge, project };
  return new Observable((subscriber) => new Pull<T, P, R>(subscriber, line, plan).start(input));
}
