import type { LimitSpec } from '../properties/specs.ts';

/** What a process of the fleet is told to do. */
export interface Order {
  limit: LimitSpec;
  /** Requests that wait at any time. */
  waiters: number;
  /** Milliseconds until it stops asking. */
  lasts: number;
}

/** What a process of the fleet has counted: requests, but for the last two. */
export interface Tally {
  asked: number;
  granted: number;
  refused: number;
  cancelled: number;
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
