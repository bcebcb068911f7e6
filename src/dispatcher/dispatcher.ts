import { LimiterClosedError } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Waiter } from '../port/line.ts';
import { type DecideReply, debt, type Reply } from '../stores/store.ts';
import { Admission } from './admission.ts';
import { Expiry } from './expiry.ts';
import { LimitChanges } from './limitChanges.ts';
import { Lookups } from './lookups.ts';
import { Loop } from './loop.ts';
import { type DispatcherOptions, type Parts, partsOf } from './parts.ts';
import type { OnRefunded } from './refunds.ts';
import { Request, settledRequest } from './request.ts';
import { Rescheduler } from './rescheduler.ts';
import { ReserveCalls } from './reserveCalls.ts';
import { Timer } from './timer.ts';

/** Milliseconds that closing waits for the store to reply. */
const closeTimeout = 1_000;

/**
 * The request queue of one limiter in one process.
 *
 * At most one reserve call is in flight, and one timer is set. What is asked for meanwhile goes into the next call. All
 * callbacks are run by one loop, so that whatever they do finds the queue in a consistent state, and nothing recurses.
 */
export class Dispatcher {
  readonly #parts: Parts;
  readonly #loop: Loop;
  readonly #calls: ReserveCalls;
  readonly #changes: LimitChanges;
  readonly #admission: Admission;
  readonly #expiry: Expiry;
  readonly #rescheduler: Rescheduler;
  readonly #lookups = new Lookups(() => this.reportIdle());
  readonly #timer: Timer;
  readonly #run = () => this.#loop.run();
  #whenIdle: (() => void)[] = [];
  #granted = 0;
  #grantingAt: number | undefined;

  constructor(options: DispatcherOptions) {
    this.#loop = new Loop(
      options.ledger.sync,
      () => this.#pass(),
      () => {
        this.#setTimer();
        this.reportIdle();
      },
    );
    const parts = partsOf(options, this.#loop);
    this.#parts = parts;
    this.#timer = new Timer(options.clock, this.#run);
    this.#calls = new ReserveCalls(parts, (reply, received) => this.#changes.replied(reply, received));
    this.#changes = new LimitChanges(parts, this.#calls);
    this.#admission = new Admission(parts, this.#calls, this.#changes);
    this.#expiry = new Expiry(parts, this.#calls);
    this.#rescheduler = new Rescheduler(parts, this.#calls);
  }

  get stats() {
    const { queue, reservations, fairShare } = this.#parts;
    const reserved = reservations.moments.count;
    const { contenders, roundTrip } = fairShare;
    const calls = this.#calls.count;
    return { queued: queue.size - reserved, reserved, calls, granted: this.#granted, contenders, roundTrip };
  }

  /** Whether no request waits, and no call is in flight. */
  get idle(): boolean {
    const { queue } = this.#parts;
    return !queue.first && queue.settled.isEmpty && !this.#isCalling;
  }

  /** Whether a call is in flight, or about to be sent. */
  get #isCalling(): boolean {
    const { refunds } = this.#parts;
    const isReserving = this.#calls.current !== undefined;
    return isReserving || this.#changes.inFlight || !refunds.idle || !this.#lookups.idle;
  }

  /** Whether the ledger's limits are known to be those in force. */
  get knowsLimits(): boolean {
    return this.#calls.knowsLimits;
  }

  get closed(): boolean {
    return this.#admission.closed;
  }

  now(): number {
    return this.#parts.clock.now();
  }

  /** The time of a grant: one reading of the clock serves all requests that are granted together. */
  get grantTime(): number {
    return this.#grantingAt ?? this.now();
  }

  /** Whether a new request would have to wait. While the store takes long to reply, it is taken to. */
  get waits(): boolean {
    return this.#admission.mustWait || this.#calls.isOverdue;
  }

  /** The fast path: takes permits that are available now, if no request waits and no event is to be emitted. */
  take(cost: Cost): Grant | undefined {
    const { ledger, fairShare } = this.#parts;
    if (!ledger.sync || !this.#isClear || fairShare.contenders > 1) return undefined;
    const grant = ledger.take?.(cost);
    if (!grant) return undefined;
    this.#calls.count++;
    this.#granted++;
    return grant;
  }

  /** Whether nothing waits or is being reported, and no event is observed. */
  get #isClear(): boolean {
    if (this.#loop.isRunning || this.#admission.closed || this.#changes.isPausing) return false;
    return !this.#parts.queue.first && !this.#parts.events.observed;
  }

  /** Grants a request on the fast path. Requests of its callback come after it. */
  #grant<T>(waiter: Waiter<T>, cost: Cost, data: T): boolean {
    const grant = this.take(cost);
    if (!grant) return false;
    this.#loop.enter();
    try {
      waiter.granted(grant, data);
    } finally {
      this.#loop.leave();
    }
    return true;
  }

  /** Adds a request to the queue, perhaps in place of another one of the same waiter. */
  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T, replaces?: Request): Request {
    if (!replaces && this.#grant(waiter, cost, data)) return settledRequest;
    const { reservations, waitEstimate } = this.#parts;
    const deadline = timeout === Infinity ? Infinity : this.now() + timeout;
    const request = new Request(waiter as Waiter<unknown>, cost, 1, timeout, deadline, data);
    const wasReserved = replaces?.stage === 'reserved';
    if (replaces && !wasReserved) reservations.remove(replaces);
    if (this.#admission.rejects(request, wasReserved ? 1 : 0)) request.stage = 'settled';
    else {
      if (timeout > 0 && timeout < Infinity) waitEstimate.assess(request, this.now());
      this.#add(request);
    }
    // Its reservation is left to the new request, which has joined by now.
    if (replaces && wasReserved) reservations.remove(replaces);
    if (replaces || request.stage !== 'settled') this.#loop.wake();
    const isUnreserved = request.stage === 'queued' || request.stage === 'sent';
    if (timeout > 0 && timeout < Infinity && isUnreserved) {
      this.#expiry.watch(request, this.#admission.mustWait);
      if (!this.#loop.isRunning) this.#setTimer();
    }
    return request;
  }

  /** Adds a request without a timeout: it is only counted if the last request is alike. */
  count<T>(waiter: Waiter<T>, cost: Cost, data?: T): void {
    if (this.#grant(waiter, cost, data as T)) return;
    if (this.#admission.hasRoom && this.#extend(waiter, cost, data)) return;
    const request = new Request(waiter as Waiter<unknown>, cost, 1, Infinity, Infinity, data);
    if (this.#admission.rejects(request) || this.#extend(waiter, cost, data)) return;
    this.#add(request);
    this.#loop.wake();
  }

  /** Counts the request in the last one, if that is of the same waiter and cost. */
  #extend<T>(waiter: Waiter<T>, cost: Cost, data: T | undefined): boolean {
    const { queue, reporter } = this.#parts;
    // The request comes after the lookups that wait behind the last one.
    if (this.#lookups.areWaiting || !queue.extend(waiter as Waiter<unknown>, cost, data)) return false;
    reporter.queued(cost);
    return true;
  }

  #add(request: Request): void {
    this.#parts.queue.add(request);
    this.#parts.reporter.queued(request.cost);
  }

  /** Cancels a request. */
  cancel(request: Request): void {
    if (request.stage === 'settled') return;
    this.#parts.reservations.remove(request);
    this.#loop.wake();
    this.#parts.reporter.cancelled(request.cost, request.count);
  }

  /** Cancels all requests of a waiter. */
  cancelAll(waiter: Waiter<never>): void {
    const { queue, reservations, reporter } = this.#parts;
    const owner = waiter as Waiter<unknown>;
    const cancelled: Request[] = [];
    // The newest first: none of them moves up, and all have left before anything is granted.
    for (let request = queue.waiters.newestOf(owner); request; ) {
      const { older } = request;
      reservations.remove(request);
      cancelled.push(request);
      request = older;
    }
    // A waiter that prefetches cannot tell the callbacks of these requests from those of its next ones.
    if (owner.prefetches) queue.settled.forget(owner);
    this.#loop.wake();
    for (const { cost, count } of cancelled) reporter.cancelled(cost, count);
  }

  /** Refunds a grant. `done` is called once the store has replied. */
  refund(grant: Grant, done?: OnRefunded): void {
    this.#rescheduler.refunding();
    this.#parts.refunds.add(grant, 1, done);
    this.#parts.waitEstimate.retryAt = 0;
    this.#loop.wake();
  }

  /** Charges permits that were used without a grant. `done` is called once the store has replied. */
  charge(grant: Grant, done: OnRefunded): void {
    this.#parts.refunds.add({ ...grant, moment: debt }, 1, done);
    this.#loop.wake();
  }

  /** Takes the cost if it is available now, after the requests in front of the call. */
  decide(cost: Cost, reply: Reply<DecideReply>): void {
    const decided: Reply<DecideReply> = (error, decision) => {
      if (decision?.granted) this.#granted++;
      this.reportDecision(cost, error, decision);
      reply(error, decision);
    };
    const { ledger, reservations } = this.#parts;
    if (ledger.sync && this.#isClear) ledger.decide(cost, decided);
    else this.#lookUp((done) => ledger.decide(cost, done, reservations.moments.last?.grant), decided);
  }

  reportDecision(cost: Cost, error: Error | null, decision: DecideReply | undefined): void {
    this.#parts.reporter.decided(cost, error, decision);
  }

  /** Reports the available permits, after the requests in front of the call. */
  peek(reply: Reply<number[]>): void {
    this.#lookUp((done) => this.#parts.ledger.peek(done), reply);
  }

  #lookUp<T>(call: (done: Reply<T>) => void, reply: Reply<T>): void {
    if (this.closed) reply(this.#closedError());
    else {
      this.#lookups.add(call, reply, this.#parts.queue.last);
      this.#loop.wake();
    }
  }

  /** Changes the limit for the whole fleet. */
  changeLimit<T>(change: (done: Reply<T>) => void, reply: Reply<T>): void {
    if (this.closed) reply(this.#closedError());
    else this.#changes.send(change, reply);
  }

  /** Pauses the limit for the whole fleet. The change replies the milliseconds that are left of the pause. */
  pause(change: (done: Reply<number>) => void, reply: Reply<number>): void {
    if (this.closed) reply(this.#closedError());
    else {
      this.#changes.pause(change, reply);
      if (!this.#loop.isRunning) this.#setTimer();
    }
  }

  /** Forgets what was granted, and ends a pause. */
  forget(change: (done: Reply<void>) => void, reply: Reply<void>): void {
    if (this.closed) reply(this.#closedError());
    else this.#changes.forget(change, reply);
  }

  #closedError(): LimiterClosedError {
    return new LimiterClosedError(this.#parts.name);
  }

  /** Fails all requests and refunds the reservations. Resolves when no call is in flight, or after a second. */
  close(): Promise<void> {
    const { clock, queue, reservations, events } = this.#parts;
    this.#admission.closed = true;
    // Shared: a stack trace for each of many requests would block the loop for seconds.
    const error = this.#closedError();
    for (const request of queue.requests()) queue.settle(request, error);
    reservations.refundAll();
    this.#lookups.fail(error);
    const closed = new Promise<void>((resolve) => {
      // What a store that does not reply still reserves is lost until it expires.
      const cancel = clock.after(closeTimeout, resolve);
      this.#whenIdle.push(cancel, resolve);
      this.#loop.run();
    });
    return closed.then(() => events.close());
  }

  /** Does all that can be done now. */
  #pass(): void {
    const { refunds, ledger } = this.#parts;
    this.#report();
    this.#rescheduler.run();
    this.#admission.failSurplus();
    this.#admission.reportDelays();
    refunds.flush(this.#run);
    this.#sendLookups();
    // A synchronous store can still grant a request at its deadline.
    if (ledger.sync) this.#calls.send();
    if (!this.#loop.isRepeating) this.#expiry.run();
    if (!ledger.sync) this.#calls.send();
    this.#sendLookups();
  }

  /** Grants the requests whose reservations are due, and reports those that have ended, in the order of the queue. */
  #report(): void {
    const { clock, queue, reservations, reporter } = this.#parts;
    const { settled } = queue;
    const { moments } = reservations;
    if (settled.isEmpty && !moments.first) return;
    const now = clock.now();
    this.#grantingAt = now;
    for (;;) {
      const isDue = !this.#changes.isPausing && moments.first !== undefined && moments.first.due <= now;
      const ended = settled.first;
      if (ended && !(isDue && queue.first!.order < ended.order)) settled.reportFirst(reporter);
      else if (isDue) this.#grantFirst();
      else break;
    }
    this.#grantingAt = undefined;
  }

  #grantFirst(): void {
    const { queue, reservations, reporter } = this.#parts;
    const request = queue.first!;
    const grant = reservations.moments.shift();
    const data = request.dataOf(0);
    queue.removeOne(request);
    this.#granted++;
    reporter.granted(request.waiter, grant, data);
  }

  #sendLookups(): void {
    if (this.#lookups.areWaiting) this.#lookups.send(this.#parts.waitEstimate.mustWait(this.now()));
  }

  /** A call that bypasses the dispatcher, or one of its own, has its reply. */
  reportIdle(): void {
    if (this.#isCalling || this.#parts.isBusy?.()) return;
    for (const callback of this.#whenIdle.splice(0)) callback();
  }

  #setTimer(): void {
    const due = this.#changes.isPausing ? undefined : this.#parts.reservations.moments.first?.due;
    const { next } = this.#rescheduler;
    this.#timer.set(Math.min(due ?? Infinity, this.#calls.next, next, this.#expiry.next));
  }
}
