import type { LimitSpec } from '../properties/specs.ts';

/** The instructions to a process of the fleet. */
export interface Order {
  limit: LimitSpec;
  /** Number of requests waiting at any time. */
  waiters: number;
  /** Milliseconds until it stops making requests. */
  lasts: number;
  /** The most permits of a request. */
  most: number;
  /** The part of the requests that are cancelled, within so many milliseconds. */
  cancel: number;
  cancelWithin: number;
  /** The part of the requests with a timeout, of so many milliseconds at most. */
  timeout: number;
  timeoutWithin: number;
  /** The part of the permits that are refunded soon after their grant. */
  refund: number;
}

/**
 * What a process of the fleet reports to its parent, besides its history: that it is ready; the most requests that it ever held
 * reserved, and the milliseconds for which it waited for a processor.
 */
export type Message = { kind: 'ready' } | { kind: 'ended'; longest: number; starved: number };
