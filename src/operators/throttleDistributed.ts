import { type MonoTypeOperatorFunction, Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import type { Permits } from '../limits/cost.ts';
import type { Limiter, LimiterGroup } from '../port/line.ts';
import { CountingSubscriber } from '../throttle/countingSubscriber.ts';
import { RequestingSubscriber } from '../throttle/requestingSubscriber.ts';
import {
  planOf,
  type ThrottleDistributedByKeyOptions,
  type ThrottleDistributedOptions,
} from '../throttle/throttleOptions.ts';

// The overloads of a limiter come last: the compiler's messages about wrong options are about the last one.
export function throttleDistributed<T, P = Permits>(
  group: LimiterGroup<P>,
  options: ThrottleDistributedByKeyOptions<T, P> & { project?: undefined },
): MonoTypeOperatorFunction<T>;
export function throttleDistributed<T, P = Permits, R = T>(
  group: LimiterGroup<P>,
  options: ThrottleDistributedByKeyOptions<T, P, R>,
): OperatorFunction<T, R>;
/**
 * Emits the values of the source in their order, each when its permits are granted.
 *
 * With a leaky bucket of 1 permit per 3 frames:
 *
 * ```
 * source   abc|
 * result   a--b--(c|)
 * ```
 *
 * Completion waits for the waiting values. An error of the source passes at once. An error or unsubscription cancels the
 * requests of the waiting values, and refunds their reservations.
 *
 * With a group, `key` chooses the limiter of a value: values of one key keep their order, and do not wait for values of
 * other keys. All other options apply to the subscription as a whole.
 *
 * @param limiter the limiter to acquire from, or a group
 * @param options `permits` (1 by default), `strategy` ('wait' by default), `timeout` (ms, Infinity by default), `onTimeout`
 * ('error' by default), `maxQueue` (values, Infinity by default), `overflow` ('error' by default) and `project`; with a
 * group, and only then, `key`
 * @returns an operator that emits the values, or the results of `project`; it also errors with the errors that
 * `limiter.acquire` rejects with, with those that the options ask for, and with those that their functions throw
 * @throws TypeError, RangeError for an invalid argument
 * @example
 * urls$.pipe(
 *   throttleDistributed(limiter),
 *   mergeMap((url) => fetch(url)),
 * );
 * @example
 * urls$.pipe(throttleDistributed(group, { key: (url) => new URL(url).host }));
 */
export function throttleDistributed<T, P = Permits>(
  limiter: Limiter<P>,
  options?: ThrottleDistributedOptions<T, P> & { project?: undefined },
): MonoTypeOperatorFunction<T>;
export function throttleDistributed<T, P = Permits, R = T>(
  limiter: Limiter<P>,
  options: ThrottleDistributedOptions<T, P, R>,
): OperatorFunction<T, R>;
export function throttleDistributed<T, P, R>(
  limiter: Limiter<P> | LimiterGroup<P>,
  options?: Partial<ThrottleDistributedByKeyOptions<T, P, R>>,
): OperatorFunction<T, R> {
  const plan = planOf(limiter, options);
  return (source) =>
    new Observable((output) =>
      source.subscribe(
        plan.counted
          ? new CountingSubscriber(output as Subscriber<unknown>, plan)
          : new RequestingSubscriber(output, plan),
      ),
    );
}
