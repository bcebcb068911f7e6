import type { LimitSpec } from '../properties/specs.ts';

/** What a process of the fleet is told to do. */
export interface Order {
  limit: LimitSpec;
  /** Requests that wait at any time. */
  waiters: number;
  /** Milliseconds until it stops asking. */
  lasts: number;
  /** The most permits that a request asks for. */
  most: number;
  /** The part of the requests that are cancelled, within so many milliseconds. */
  cancel: number;
  cancelWithin: number;
  /** The part of the requests that have a timeout, of so many milliseconds at most. */
  timeout: number;
  timeoutWithin: number;
  /** The part of the permits that are given back soon after they were granted: these are not told. */
  refund: number;
}

/** What a process of the fleet has counted: requests, but for the last two. */
export interface Tally {
  asked: number;
  granted: number;
  refused: number;
  cancelled: number;
  refunded: number;
  /** Calls to the store. */
  calls: number;
  /** The most requests that it ever held booked. */
  longest: number;
}

/** What a process of the fleet tells its parent. */
export type Message =
  | { kind: 'ready' }
  /** `n` permits were granted at `t`, by the server's clock. */
  | { kind: 'grant'; t: number; n: number }
  | { kind: 'tally'; tally: Tally };
