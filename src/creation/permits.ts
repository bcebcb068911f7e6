import { Observable } from 'rxjs';
import { type AcquireOptions, checkAcquireOptions } from '../limiter/acquireOptions.ts';
import { CancellableAcquisition } from '../limiter/acquisition.ts';
import type { Limiter } from '../port/line.ts';
import { lineOf } from '../port/lineOf.ts';
import type { Permit } from '../port/permit.ts';

/** A request whose grant runs code of the user. */
class EmittedAcquisition<P> extends CancellableAcquisition<P> {
  override get isPassive(): boolean {
    return false;
  }
}

/**
 * Emits one permit at its granted moment, then completes. Each subscription acquires its own permit.
 *
 * With a leaky bucket of 1 permit per 3 frames, subscribed to twice in frame 0:
 *
 * ```
 * first    (p|)
 * second   ---(p|)
 * ```
 *
 * Unsubscribing before the permit is granted cancels the request, and its reservation is refunded.
 *
 * @param limiter the limiter to acquire from
 * @param permits how many: a positive integer, or a record of the names of several limits; 1 by default
 * @param options `timeout` (ms, Infinity by default) and `signal`
 * @returns an observable of one permit; it errors with the errors that `limiter.acquire` rejects with
 * @throws TypeError, RangeError for an invalid argument
 * @example
 * permits$(limiter, 2).subscribe(({ grantedAt }) => console.log(grantedAt));
 */
export function permits$<P>(
  limiter: Limiter<P>,
  permits: P = 1 as P,
  options?: AcquireOptions,
): Observable<Permit<P>> {
  const line = lineOf(limiter, permits);
  checkAcquireOptions(options);
  return new Observable((subscriber) => {
    const granted = (permit: Permit<P>) => {
      subscriber.next(permit);
      subscriber.complete();
    };
    const request = new EmittedAcquisition(
      line,
      permits,
      line.costOf(permits),
      options ?? {},
      granted,
      (error) => subscriber.error(error),
    );
    subscriber.add(() => request.cancel());
    request.start();
  });
}
