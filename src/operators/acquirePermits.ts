import { type MonoTypeOperatorFunction, switchMap } from 'rxjs';
import { permits$ } from '../creation/permits.ts';
import type { AcquireOptions } from '../limiter/acquireOptions.ts';
import type { Permits } from '../limits/cost.ts';
import type { Limiter } from '../port/line.ts';

/**
 * Acquires permits, then subscribes to the source. Each subscription acquires its own, those of `retry` and `repeat` too.
 *
 * With a leaky bucket of 1 permit per 3 frames, subscribed to twice in frame 0:
 *
 * ```
 * source   -x|
 * first    -x|
 * second   ----x|
 * ```
 *
 * Unsubscribing before the permits are granted cancels the request, and its reservation is refunded.
 *
 * @param limiter the limiter to acquire from
 * @param permits how many permits a subscription costs: a positive integer, or a record of the names of several limits; 1
 * by default
 * @param options `timeout` (ms, Infinity by default) and `signal`, which apply to the wait for permits only
 * @returns an operator that mirrors the source; it also errors with the errors that `limiter.acquire` rejects with
 * @throws TypeError, RangeError for an invalid argument
 * @example
 * defer(() => callApi(x)).pipe(acquirePermits(limiter), retry(3));
 */
export function acquirePermits<T, P = Permits>(
  limiter: Limiter<P>,
  permits: P = 1 as P,
  options?: AcquireOptions,
): MonoTypeOperatorFunction<T> {
  const granted$ = permits$(limiter, permits, options);
  return (source) => granted$.pipe(switchMap(() => source));
}
