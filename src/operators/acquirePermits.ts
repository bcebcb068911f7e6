import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { type AcquireOptions, Acquisition, checkAcquireOptions } from '../limiter/acquisition.ts';
import { checkPermits } from '../port/checkPermits.ts';
import type { Limiter } from '../port/line.ts';
import { lineOf } from '../port/lineOf.ts';

/**
 * Acquires permits, then subscribes to the source: each subscription pays, those of `retry` and `repeat` too.
 *
 * With a leaky bucket of 1 permit per 3 frames, subscribed to twice in frame 0:
 *
 * ```
 * source   -x|
 * first    -x|
 * second   ----x|
 * ```
 *
 * Leaving before the permits come leaves the line, and gives back what was booked.
 *
 * @param limiter the limiter whose permits a subscription costs
 * @param permits how many: a positive integer, or for a record of limits a record of their names; 1 by default
 * @param options `timeout` (ms, Infinity by default) and `signal`, which bound the wait for permits alone
 * @returns an operator whose result mirrors the source; it errors as `limiter.acquire` rejects
 * @throws TypeError, RangeError for an argument of the wrong type or out of range
 * @example
 * defer(() => callApi(x)).pipe(acquirePermits(limiter), retry(3));
 */
export function acquirePermits<T, P>(
  limiter: Limiter<P>,
  permits: P = 1 as P,
  options?: AcquireOptions,
): MonoTypeOperatorFunction<T> {
  const line = lineOf(limiter);
  checkPermits(line, permits);
  checkAcquireOptions(options);
  return (source) =>
    new Observable((subscriber) => {
      const request = new Acquisition(
        line,
        permits,
        line.costOf(permits),
        options ?? {},
        () => source.subscribe(subscriber),
        (error) => subscriber.error(error),
      );
      subscriber.add(() => request.cancel());
      request.ask();
    });
}
