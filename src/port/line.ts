import type { CancelTimer } from '../clock.ts';
import type { Cost, Permits } from '../limits/cost.ts';
import type { Grant } from '../stores/store.ts';
import type { Permit } from './permit.ts';

export type { Grant } from '../stores/store.ts';

/** Someone with requests in the line. Hears of each of them once, in order, perhaps before `ask` returns. */
export interface Waiter<T = unknown> {
  /** Whether it may abandon all its requests at once: the line keeps them together for that. */
  readonly cancelsAll?: boolean;
  /** Whether all its requests but the first are asked ahead: in a full line they give way to others. It leaves together. */
  readonly prefetches?: boolean;
  /** One request was granted, and its moment has come. `data` is what it was asked with. */
  granted(grant: Grant, data: T): void;
  /** One request cannot be granted in its time; it is not charged. `retryAfter` is in milliseconds, where it is known. */
  denied(retryAfter: number | undefined, data: T): void;
  /** That request, and all of this waiter's before it in its line, have to wait, as has turned out since they joined it. */
  delayed?(data: T): void;
  /** One request cannot be granted at all; it is not charged. */
  failed(error: Error, data: T): void;
}

/** What the line returns for a request, to cancel it with. */
export interface Ticket {
  /** Milliseconds that the request may wait. */
  readonly timeout: number;
}

/** Why an operator drops a value: its permits were not there now, not in time, or too many values waited. */
export type DropReason = 'strategy' | 'timeout' | 'overflow';

/**
 * The line of one limiter in one process: the port that operators and promises stand on.
 *
 * `P` is how permits are asked for. The line answers through its waiters, in the turn of the call where the store does.
 */
export interface Line<P> {
  /** The limiter's name, for messages. */
  readonly name: string;
  /** The permits as a cost; throws for what no limit could mean or grant. */
  costOf(permits: P): Cost;
}

/** @internal What the published types leave out. */
export interface Line<P> {
  /**
   * Joins the line with one request. `timeout` in milliseconds: 0 does not wait. `replaces` leaves the line, and its moment
   * to this one where they cost the same.
   */
  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T, replaces?: Ticket): Ticket;
  /** Joins the line with one more request that waits without a bound and carries nothing: the line only counts it. */
  count(waiter: Waiter<undefined>, cost: Cost): void;
  /** Leaves the line with all requests of a ticket that are not granted yet, and gives back what was booked for them. */
  cancel(ticket: Ticket): void;
  /** Leaves the line with all requests of a waiter. */
  cancelAll(waiter: Waiter<never>): void;
  /** Gives one grant back: the permit was not used. */
  refund(grant: Grant): void;
  /** Tells those who listen that a value was dropped. */
  dropped(value: unknown, reason: DropReason): void;
  /** The permit of a grant, as it is handed to the user. `asked` is when, by `now`. */
  permitOf(grant: Grant, permits: P, asked: number): Permit<P>;
  /** Monotonic milliseconds. */
  now(): number;
  /** Calls back after so many of them, or a little before or after. */
  after(ms: number, work: () => void): CancelTimer;
  /** The shortest interval of the limits in force, as far as they are known: milliseconds. */
  readonly shortestInterval: number;
  /** Whether one more request would have to wait, as far as is known; while the store takes long to answer, it is taken to. */
  readonly waits: boolean;
  /** Whether nobody waits, and nothing is booked or under way. */
  readonly idle: boolean;
  /** Whether everything is refused from now on. */
  readonly closed: boolean;
}

/** What the operators need of a limiter: every limiter of this package is one. */
export interface Limiter<P = Permits> {
  /** The line of this process. Its shape may change in any release: use the limiter's own methods. */
  readonly line: Line<P>;
}

/** What operators and decorators need of a group: one limiter for each key. */
export interface LimiterGroup<P = Permits> {
  /** The limiter of a key. */
  get(key: string): Limiter<P>;
}
