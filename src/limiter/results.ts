import type { Limit } from '../limits/limit.ts';

/** What {@link RateLimiter.decide} found: all that the answer to a request needs, a 429 included. */
export interface Decision {
  /** Whether the permits were granted, and charged. */
  readonly granted: boolean;
  /**
   * Permits of a window, burst of a bucket; for a record, as a plain number: of the limit that refuses the permits, for longest
   * if several do; else of the one, of those that the permits are charged to, that has the smallest part left.
   */
  readonly limit: number;
  /** Whole permits that are left at once, of that limit. */
  readonly remaining: number;
  /** Whole milliseconds until the permits could be granted; 0 when they were. */
  readonly retryAfter: number;
  /** Whole milliseconds until everything that was granted and booked has come back. */
  readonly resetAfter: number;
}

/** What a limiter has done and has to do, in this process. */
export interface LimiterStats {
  /** Requests that wait and are not booked. */
  readonly queued: number;
  /** Requests that are booked, and wait for their moment. */
  readonly reserved: number;
  /** Calls made to the store to reserve. */
  readonly calls: number;
  /** Requests granted. */
  readonly granted: number;
  /** Clients that share the limit's near future, as the store last counted them. */
  readonly contenders: number;
  /** The mean round trip to the store: milliseconds. */
  readonly roundTrip: number;
}

/** The limit in force, and where it comes from. */
export interface LimitInForce<Name extends string = string> {
  /** The limit; a record where the limiter was made with one. */
  readonly limit: Limit | Readonly<Record<Name, Limit>>;
  /** Whether it is stored for the whole fleet; else it is the limiter's own. */
  readonly stored: boolean;
}
