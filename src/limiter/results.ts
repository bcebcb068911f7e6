import type { Limit } from '../limits/limit.ts';

/** The result of {@link RateLimiter.decide}: what an HTTP response needs, a 429 included. */
export interface Decision {
  /** Whether the permits were granted, and charged. */
  readonly granted: boolean;
  /**
   * Permits of a window, or burst of a bucket. With several limits: of the one with the longest wait for the permits, or, if
   * they are granted, of the charged one with the smallest part left. While a fallback serves in the mode `'local'`, it is not
   * scaled, unlike `remaining`.
   */
  readonly limit: number;
  /** Whole permits of that limit that are available now. */
  readonly remaining: number;
  /** Whole milliseconds until the permits could be granted; 0 if they were granted. */
  readonly retryAfter: number;
  /** Whole milliseconds until the limit is full again, reservations included. */
  readonly resetAfter: number;
}

/** Figures of a limiter in this process: waiting requests now, the others since it was created. */
export interface LimiterStats {
  /** Requests that wait without a reservation. */
  readonly queued: number;
  /** Requests that wait for their reserved moment. */
  readonly reserved: number;
  /** Calls to the store to reserve. */
  readonly calls: number;
  /** Granted requests. */
  readonly granted: number;
  /** Clients that hold or wait for a reservation, as the store last reported. */
  readonly contenders: number;
  /** The mean round trip to the store in milliseconds. */
  readonly roundTrip: number;
}

/** The limit in force, and where it comes from. */
export interface LimitInForce<Name extends string = string> {
  /** The limit; a record if the limiter was created with one. */
  readonly limit: Limit | Readonly<Record<Name, Limit>>;
  /** Whether it is stored for the whole fleet; otherwise it is the limiter's own. */
  readonly stored: boolean;
}
