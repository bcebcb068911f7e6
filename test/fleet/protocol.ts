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
  /** The part of the permits that are given back soon after they were granted. */
  refund: number;
}

/** What a process of the fleet tells its parent, besides its history: that it is ready, and the most requests it ever held reserved. */
export type Message = { kind: 'ready' } | { kind: 'ended'; longest: number };
