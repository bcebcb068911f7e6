import { type MonoTypeOperatorFunction, Observable, type OperatorFunction } from 'rxjs';
import type { Limiter } from '../limiter/line.ts';
import { checkPermits, lineOf } from './port.ts';
import { planOf, type ThrottleDistributedOptions } from './throttleOptions.ts';
import { ThrottleSubscriber } from './throttleSubscriber.ts';

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
 * @param limiter the limiter whose permits the values cost
 * @param options what a value costs, how long it may wait, how many may wait, and what happens to the others
 * @returns an operator that emits the values, or what `project` makes of them
 * @throws TypeError, RangeError for an option of the wrong type or out of range
 * @example
 * urls$.pipe(
 *   throttleDistributed(limiter),
 *   mergeMap((url) => fetch(url)),
 * );
 */
export function throttleDistributed<T, P>(
  limiter: Limiter<P>,
  options?: ThrottleDistributedOptions<T, P> & { project?: undefined },
): MonoTypeOperatorFunction<T>;
export function throttleDistributed<T, P, R>(
  limiter: Limiter<P>,
  options: ThrottleDistributedOptions<T, P, R>,
): OperatorFunction<T, R>;
export function throttleDistributed<T, P, R>(
  limiter: Limiter<P>,
  options?: ThrottleDistributedOptions<T, P, R>,
): OperatorFunction<T, R> {
  const line = lineOf(limiter);
  const plan = planOf(options);
  if (typeof plan.permits !== 'function') checkPermits(line, plan.permits);
  return (source) => new Observable((output) => source.subscribe(new ThrottleSubscriber(output, line, plan)));
}
