import { LimiterClosedError } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Waiter } from '../port/line.ts';
import { type DecideReply, debt } from '../stores/store.ts';
import { Joining } from './joining.ts';
import type { LimitChanges } from './limitChanges.ts';
import type { Loop } from './loop.ts';
import type { DispatcherOptions } from './parts.ts';
import { Passes } from './passes.ts';
import type { Queue } from './queue.ts';
import type { OnRefunded } from './refunds.ts';
import type { Request } from './request.ts';

/** Of so many refunds of a part that is too small for the next request, all but one are followed by a call. */
const smallRefundPeriod = 3;
/** Milliseconds that closing waits for the store to reply. */
const closeTimeout = 1_000;

/**
 * The request queue of one limiter in one process.
 *
 * At most one reserve call is in flight, and one timer is set. Requests that arrive meanwhile go into the next call. All
 * callbacks are run by one loop, so that they find the queue in a consistent state, and nothing recurses.
 */
export class Dispatcher {
  readonly #passes: Passes;
  readonly #joining: Joining;
  /** Runs the passes. Entered while a grant is handed out without this dispatcher. */
  readonly loop: Loop;
  readonly #queue: Queue;
  readonly #isSync: boolean;
  /** Number of refunds of a part that was too small for the next request, if that is large. */
  #smallRefunds = 0;

  constructor(options: DispatcherOptions) {
    this.#passes = new Passes(options);
    this.#joining = new Joining(this.#passes);
    const { loop, queue } = this.#passes.parts;
    this.loop = loop;
    this.#queue = queue;
    this.#isSync = options.ledger.sync;
  }

  get stats() {
    const { parts, calls, granting } = this.#passes;
    const { contenders, roundTrip } = parts.fairShare;
    const reserved = parts.reservations.moments.count;
    return {
      queued: parts.queue.size - reserved,
      reserved,
      calls: calls.count,
      granted: granting.count,
      contenders,
      roundTrip,
    };
  }

  /** Whether no request waits, and no call is in flight. */
  get idle(): boolean {
    return !this.#queue.first && this.#queue.settled.isEmpty && !this.#passes.isCalling;
  }

  /** Whether a direct call to the store overtakes no request: no request waits, and no callback is being run. */
  get isClear(): boolean {
    // A synchronous store has replied to all calls.
    return !this.loop.isRunning && !this.#queue.first && (this.#isSync || this.idle);
  }

  /** Whether the ledger's limits are known to be those in force. */
  get knowsLimits(): boolean {
    return this.#passes.calls.knowsLimits;
  }

  get closed(): boolean {
    return this.#queue.closed;
  }

  /** The time of a grant: one reading of the clock serves all requests that are granted together. */
  get grantTime(): number {
    return this.#passes.granting.time ?? this.#now();
  }

  /** The time of a request that is made now: one reading of the clock serves all requests until the end of this turn. */
  get requestTime(): number {
    const works = this.loop.scheduled;
    if (!works) return this.#now();
    works.time ??= this.#now();
    return works.time;
  }

  /** Whether the store takes longer to reply than it is given. */
  get isOverdue(): boolean {
    return this.#passes.calls.isOverdue;
  }

  /** Whether a new request would have to wait. While the store takes long to reply, this is assumed. */
  get waits(): boolean {
    return this.#passes.admission.mustWait || this.isOverdue;
  }

  /** Changes of the limit for the whole fleet. */
  get changes(): LimitChanges {
    return this.#passes.changes;
  }

  #now(): number {
    return this.#passes.parts.clock.now();
  }

  /** Adds a request to the queue, perhaps in place of another one of the same waiter. */
  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T, replaces?: Request): Request {
    return this.#joining.ask(waiter as Waiter<unknown>, cost, timeout, data, replaces);
  }

  /** Adds a request that has no ticket. */
  count<T>(waiter: Waiter<T>, cost: Cost, data?: T, timeout = Infinity): void {
    this.#joining.count(waiter as Waiter<unknown>, cost, data, timeout);
  }

  /** Cancels a request. */
  cancel(request: Request): void {
    if (request.stage === 'settled') return;
    const { reservations, reporter } = this.#passes.parts;
    reservations.remove(request);
    this.#passes.calls.left();
    this.loop.wake();
    reporter.cancelled(request.cost, request.count);
  }

  /** Cancels all requests of a waiter. */
  cancelAll(waiter: Waiter<never>): void {
    const { reservations, reporter } = this.#passes.parts;
    const owner = waiter as Waiter<unknown>;
    const cancelled: Request[] = [];
    // The newest first, so that none of the others moves up. All have left before anything is granted.
    for (let request = this.#queue.waiters.newestOf(owner); request; ) {
      const { older } = request;
      reservations.remove(request);
      cancelled.push(request);
      request = older;
    }
    this.#passes.calls.left();
    // A waiter that prefetches cannot tell the callbacks of these requests from those of its next ones.
    if (owner.prefetches) this.#queue.settled.forget(owner);
    this.loop.wake();
    for (const { cost, count } of cancelled) reporter.cancelled(cost, count);
  }

  /** Refunds a grant, or a part of one. `done` is called once the store has replied. */
  refund(grant: Grant, done?: OnRefunded, isWhole = true): void {
    const { parts, rescheduler } = this.#passes;
    const { refunds, fairShare, waitEstimate } = parts;
    rescheduler.refunding(grant.due);
    refunds.add(grant, 1, done);
    const next = this.#queue.firstUnreserved;
    // Beside contenders, a part that is too small for the next request is worth no call before the client's turn, unless that
    // request is large. Not each time: a client that was granted permits so would be granted the next ones, too.
    const isEnough =
      isWhole ||
      fairShare.contenders === 1 ||
      next?.cost.every((n, i) => n <= grant.cost[i]) ||
      (next && fairShare.isLarge(next.cost) && ++this.#smallRefunds % smallRefundPeriod > 0);
    // Of few permits, those that come back must not wait for a turn.
    const mayCall = !fairShare.takesTurns || fairShare.isSlow(grant.cost);
    if (mayCall && isEnough) waitEstimate.retryAt = 0;
    this.loop.wake();
  }

  /** Charges permits that were used without a grant. `done` is called once the store has replied. */
  charge(grant: Grant, done: OnRefunded): void {
    const { bounds, refunds } = this.#passes.parts;
    bounds.charged(grant.cost, this.#now());
    refunds.add({ ...grant, moment: debt }, 1, done);
    this.loop.wake();
  }

  /** Sends a lookup after the requests in front of it; `fail` is called instead if the dispatcher is closed before. */
  lookUp(send: (last: Grant | undefined) => void, fail: (error: Error) => void): void {
    const { parts, lookups } = this.#passes;
    const { name, reservations } = parts;
    if (this.closed) fail(new LimiterClosedError(name));
    else {
      lookups.add({ send: () => send(reservations.moments.last?.grant), fail, behind: this.#queue.order });
      this.loop.wake();
    }
  }

  /** Has to be called after the reply to a lookup, for which `close` may wait. */
  reportIdle(): void {
    this.#passes.reportIdle();
  }

  /** Emits the result of a `decide` call. */
  reportDecision(cost: Cost, error: Error | null, decision: DecideReply | undefined): void {
    this.#passes.parts.reporter.decided(cost, error, decision);
  }

  /** From now on, nothing is granted. `close` has to follow. */
  stop(): void {
    this.#queue.closed = true;
  }

  /** Fails all requests and refunds the reservations. Resolves when no call is in flight, or after a second. */
  close(): Promise<void> {
    const { parts, lookups } = this.#passes;
    const { name, clock, reservations, events } = parts;
    const queue = this.#queue;
    this.stop();
    // Shared: a stack trace for each of many requests would block the loop for seconds.
    const error = new LimiterClosedError(name);
    for (const request of queue.requests()) queue.settle(request, error);
    reservations.refundAll();
    this.#passes.calls.left();
    lookups.fail(error);
    return new Promise<void>((resolve) => {
      // If a store that does not reply has reserved permits, they are lost until the reservations expire.
      const cancel = clock.after(closeTimeout, resolve);
      this.#passes.whenIdle(cancel, resolve);
      this.loop.run();
    }).then(() => events.close());
  }
}
