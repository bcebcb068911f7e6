import type { Permits } from '../limits/cost.ts';
import type { PermitSource } from '../stores/store.ts';

/** What was granted. */
export interface Permit<P = Permits> {
  /** What was asked for. */
  readonly permits: P;
  /** Milliseconds between asking and granting, by this process's monotonic clock. */
  readonly waited: number;
  /** The granted moment: epoch milliseconds by the store's clock, whole. */
  readonly grantedAt: number;
  /** Who granted it. */
  readonly source: PermitSource;
  /**
   * Gives back what was not used: for a call that was never made, or an estimate that was too high.
   *
   * It counts from the permit's own moment: what would have come back by now anyway is not restored. Only the first call
   * of `refund` or `settle` counts; it is not a semaphore's release.
   *
   * @param unused permits that were not used; all of them by default; of a record, none of a limit that is left out
   * @returns once the store has taken it, or cannot be reached: what is lost then comes back by itself
   * @throws TypeError, RangeError when `unused` is more than was granted, or no number of permits
   * @example
   * const permit = await limiter.acquire({ requests: 1, tokens: 1250 });
   * if (cache.has(prompt)) await permit.refund(); // the call is not made
   */
  refund(unused?: P): Promise<void>;
  /**
   * Says what was really used: gives back the rest, as `refund` does, or charges what was used beyond it.
   *
   * The excess is charged behind what is reserved already: what the limit has free is charged at once, and the rest as it becomes
   * free, in about a hundred parts, or in whole windows or bursts where that is more, at most a thousand. No request waits for
   * it, but those that come next wait behind it.
   * On Redisson's keys, which cannot be booked ahead, only as much of it counts as is free at that time.
   *
   * Only the first call of `refund` or `settle` counts; one that throws is none.
   *
   * @param used permits that were used, 0 or more; of a record, a limit that is left out was used as it was granted
   * @returns once the store has taken it, or cannot be reached: the rest then comes back by itself, an excess may be lost
   * @throws TypeError, RangeError when `used` is no number of permits, or has some of a limit that was not asked for
   * @example
   * const permit = await limiter.acquire({ requests: 1, tokens: 1250 });
   * const { usage } = await complete(prompt);
   * await permit.settle({ tokens: usage.total });
   */
  settle(used: P): Promise<void>;
}
