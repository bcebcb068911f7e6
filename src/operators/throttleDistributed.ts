import { type MonoTypeOperatorFunction, Observable, type OperatorFunction } from 'rxjs';
import type { Limiter } from '../port/line.ts';
import { linesOf, type NamedGroup } from './lines.ts';
import {
  planOf,
  type ThrottleDistributedByKeyOptions,
  type ThrottleDistributedOptions,
} from './throttleOptions.ts';
import { ThrottleSubscriber } from './throttleSubscriber.ts';

/** What no group is: the compiler names it where a group is given without a key. */
interface KeyIsMissing {
  readonly 'with a group, the option `key` says which limiter a value waits for': never;
}

/**
 * Lets every value wait for its permits, in the order of the source.
 *
 * With a leaky bucket of 1 permit per 3 frames:
 *
 * ```
 * source   abc|
 * result   a--b--(c|)
 * ```
 *
 * Completion waits for the values that still wait. An error of the source passes at once. On either, and when the
 * subscriber leaves, what was booked for values that will not come is given back.
 *
 * With a group, `key` says which of its limiters a value waits for: the order holds for each key, and no key waits for
 * another one. All other options speak of the subscription as a whole.
 *
 * @param limiter the limiter whose permits the values cost, or a group of them
 * @param options what a value costs, how long it may wait, how many may wait, and what happens to the others; with a group,
 * and only then, `key`
 * @returns an operator that emits the values, or what `project` makes of them
 * @throws TypeError, RangeError for an option of the wrong type or out of range
 * @example
 * urls$.pipe(
 *   throttleDistributed(limiter),
 *   mergeMap((url) => fetch(url)),
 * );
 * @example
 * urls$.pipe(throttleDistributed(group, { key: (url) => new URL(url).host }));
 */
export function throttleDistributed<T, P>(
  limiter: Limiter<P>,
  options?: ThrottleDistributedOptions<T, P> & { project?: undefined },
): MonoTypeOperatorFunction<T>;
export function throttleDistributed<T, P, R>(
  limiter: Limiter<P>,
  options: ThrottleDistributedOptions<T, P, R>,
): OperatorFunction<T, R>;
export function throttleDistributed<T, P>(
  group: NamedGroup<P>,
  options: ThrottleDistributedByKeyOptions<T, P> & { project?: undefined },
): MonoTypeOperatorFunction<T>;
export function throttleDistributed<T, P, R>(
  group: NamedGroup<P>,
  options: ThrottleDistributedByKeyOptions<T, P, R>,
): OperatorFunction<T, R>;
export function throttleDistributed(group: KeyIsMissing): never;
export function throttleDistributed<T, P, R>(
  limiter: Limiter<P> | NamedGroup<P> | KeyIsMissing,
  options?: Partial<ThrottleDistributedByKeyOptions<T, P, R>>,
): OperatorFunction<T, R> {
  const plan = planOf(options);
  const lines = linesOf(limiter as Limiter<P> | NamedGroup<P>, plan);
  return (source) =>
    new Observable((output) => source.subscribe(new ThrottleSubscriber(output, lines(), plan)));
}
