import { Observable } from 'rxjs';
import { type AcquireOptions, Acquisition, checkAcquireOptions } from '../limiter/acquisition.ts';
import { checkPermits } from '../port/checkPermits.ts';
import type { Limiter } from '../port/line.ts';
import { lineOf } from '../port/lineOf.ts';
import type { Permit } from '../port/permit.ts';

/**
 * Emits one permit at its granted moment, then completes. Each subscription acquires its own.
 *
 * Leaving before the permit comes leaves the line, and gives back what was booked.
 *
 * @param limiter the limiter to acquire from
 * @param permits how many: a positive integer, or for a record of limits a record of their names; 1 by default
 * @param options `timeout` (ms, Infinity by default) and `signal`
 * @returns an observable that errors as `limiter.acquire` rejects
 * @throws TypeError, RangeError for an argument of the wrong type or out of range
 * @example
 * permits$(limiter, 2).subscribe(({ grantedAt }) => console.log(grantedAt));
 */
export function permits$<P>(
  limiter: Limiter<P>,
  permits: P = 1 as P,
  options?: AcquireOptions,
): Observable<Permit<P>> {
  const line = lineOf(limiter);
  checkPermits(line, permits);
  checkAcquireOptions(options);
  return new Observable((subscriber) => {
    const granted = (permit: Permit<P>) => {
      subscriber.next(permit);
      subscriber.complete();
    };
    const request = new Acquisition(line, permits, line.costOf(permits), options ?? {}, granted, (error) =>
      subscriber.error(error),
    );
    subscriber.add(() => request.cancel());
    request.ask();
  });
}
