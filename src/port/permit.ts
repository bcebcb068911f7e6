import type { Permits } from '../limits/cost.ts';
import type { PermitSource } from '../stores/store.ts';

/** A granted request. */
export interface Permit<P = Permits> {
  /** The permits of the request. */
  readonly permits: P;
  /**
   * Milliseconds between the request and its grant, by this process's monotonic clock. Of requests that are sent together at
   * the end of a turn of the event loop, all may be measured from the first.
   */
  readonly waited: number;
  /** The granted moment: whole epoch milliseconds by the store's clock. */
  readonly grantedAt: number;
  /** Where the request was granted. */
  readonly source: PermitSource;
  /**
   * Refunds unused permits: of a call that was never made, or of an estimate that was too high.
   *
   * The refund counts from the granted moment, so permits that have come back since are not restored. Only the first call of
   * `refund` or `settle` counts. A permit is not a semaphore: used permits need no release.
   *
   * @param unused the unused permits; all by default; a limit that is left out of a record is not refunded
   * @returns a promise that resolves when the store has processed the refund, or cannot be reached: the permits then count as
   * used
   * @throws TypeError, RangeError for an invalid number of permits, or more than were granted
   * @example
   * const permit = await limiter.acquire({ requests: 1, tokens: 1250 });
   * if (cache.has(prompt)) await permit.refund(); // the call is not made
   */
  refund(unused?: P): Promise<void>;
  /**
   * Reports the permits that were used: refunds the rest, as `refund` does, or charges the excess.
   *
   * The excess is charged behind the reservations: available permits at once, and the rest as they come back, in about a
   * hundred parts, or more if a part would exceed a window or a burst. At most a thousand windows or bursts are charged. No
   * request waits for the excess, but later requests wait behind it. On Redisson's keys, which have no reservations, only the
   * permits that are available now are charged.
   *
   * Only the first call of `refund` or `settle` counts; a call that throws does not.
   *
   * @param used the used permits, 0 or more; a limit that is left out of a record was used as granted
   * @returns a promise that resolves when the store has processed it, or cannot be reached: unused permits then count as used,
   * and an excess may not be charged
   * @throws TypeError, RangeError for an invalid number of permits, or some of a limit that was not charged
   * @example
   * const permit = await limiter.acquire({ requests: 1, tokens: 1250 });
   * const { usage } = await complete(prompt);
   * await permit.settle({ tokens: usage.total });
   */
  settle(used: P): Promise<void>;
}
