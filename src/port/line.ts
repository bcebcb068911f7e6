import type { CancelTimer } from '../clock.ts';
import type { AcquireTimeoutError } from '../errors.ts';
import type { Cost, Permits } from '../limits/cost.ts';
import type { Grant } from '../stores/store.ts';
import type { Permit } from './permit.ts';

export type { Grant } from '../stores/store.ts';

/**
 * Makes requests, and receives the result of each of them once, in order.
 *
 * A callback may be called before `ask` returns. `data` is the value that was passed to `ask` or `count`.
 */
export interface Waiter<T = unknown> {
  /** Whether this waiter uses `cancelAll`: the line then links its requests to each other. */
  readonly cancelsAll?: boolean;
  /** Whether all its requests but the first are prefetched: a full queue fails these for other waiters. Needs `cancelsAll`. */
  readonly prefetches?: boolean;
  /** Whether `granted` runs no code of users before it returns: nothing is requested or cancelled meanwhile. */
  readonly isPassive?: boolean;
  /** A request is granted, and its moment has come. */
  granted(grant: Grant, data: T): void;
  /** A request cannot be granted within its timeout. `retryAfter` is the time until it could be, in milliseconds, if known. */
  denied(retryAfter: number | undefined, data: T): void;
  /** A queued request, and all earlier ones of this waiter, are now known to have to wait. */
  delayed?(data: T): void;
  /** A request has failed. */
  failed(error: Error, data: T): void;
}

/** A request in the line, as its waiter holds it. */
export interface Ticket {
  /** The timeout of the request in milliseconds. */
  readonly timeout: number;
}

/** Why an operator has dropped a value: its `strategy`, its `timeout`, or the `overflow` of its queue. */
export type DropReason = 'strategy' | 'timeout' | 'overflow';

/**
 * The requests of one limiter in one process, in their order. Operators and promises make their requests through it.
 *
 * `P` is the type of permits. A synchronous store replies before a call returns.
 */
export interface Line<P> {
  /** The limiter's name, for messages. */
  readonly name: string;
  /**
   * Converts permits to a cost. Throws for invalid permits; and those of a request (the default), if they are known to be more
   * than the limit in force can ever grant.
   */
  costOf(permits: P, isRequest?: boolean): Cost;
}

/** @internal The part that the published types leave out. */
export interface Line<P> {
  /**
   * Adds a request with a timeout in milliseconds; one with the timeout 0 does not wait.
   *
   * It cancels the request `replaces`, and takes its reservation if both have the same cost.
   */
  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T, replaces?: Ticket): Ticket;
  /**
   * Adds a request that only `cancelAll` cancels. Consecutive ones of one waiter and cost are counted, if they have one deadline
   * or are certain to be granted. A timeout has to be positive; by default, there is none.
   */
  count<T>(waiter: Waiter<T>, cost: Cost, data?: T, timeout?: number): void;
  /** Cancels a request, and refunds its reservation. */
  cancel(ticket: Ticket): void;
  /** Cancels all requests of a waiter, and refunds their reservations. */
  cancelAll(waiter: Waiter<never>): void;
  /** Refunds a grant that is not used. */
  refund(grant: Grant): void;
  /** Reports a dropped value as an event. */
  reportDropped(value: unknown, reason: DropReason): void;
  /** The permit of a grant. `requestedAt` is the time of the request by `now`. */
  permitOf(grant: Grant, permits: P, requestedAt: number): Permit<P>;
  /** The error of a request that was denied. */
  timeoutError(permits: P, timeout: number, retryAfter: number | undefined): AcquireTimeoutError;
  /** Monotonic milliseconds. */
  now(): number;
  /** The time of a request that is made now. Requests that are sent together at the end of a turn have the same time. */
  readonly requestTime: number;
  /** Calls `work` after about `ms`. The timer may fire early. */
  after(ms: number, work: () => void): CancelTimer;
  /** The shortest interval of the limits in force, as far as known, in milliseconds. */
  readonly shortestInterval: number;
  /** Whether another request would have to wait, as far as known. While a reply is overdue, this is assumed. */
  readonly waits: boolean;
  /** Whether there are no requests, reservations or calls. */
  readonly idle: boolean;
  /** Whether all requests are refused. */
  readonly closed: boolean;
}

/** A limiter, as the operators see it. All limiters of this package implement it. */
export interface Limiter<P = Permits> {
  /** The requests of this process. It is internal: its members may change in any release. */
  readonly line: Line<P>;
}

/** A group of limiters by key, as the operators see it. */
export interface LimiterGroup<P = Permits> {
  /** Its name in error messages. */
  readonly name?: string | undefined;
  /** Returns the limiter of a key. */
  get(key: string): Limiter<P>;
}
