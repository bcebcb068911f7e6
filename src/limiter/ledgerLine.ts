import type { CancelTimer, Clock } from '../clock.ts';
import { Dispatcher } from '../dispatcher/dispatcher.ts';
import type { DispatcherOptions } from '../dispatcher/parts.ts';
import type { OnRefunded } from '../dispatcher/refunds.ts';
import { type Request, settledRequest } from '../dispatcher/request.ts';
import { AcquireTimeoutError, type AskedPermits, LimiterClosedError } from '../errors.ts';
import { type Cost, costOf, exceedsError, type NamedLimits, sameCost } from '../limits/cost.ts';
import { exceeds } from '../limits/limit.ts';
import { shortestInterval } from '../limits/load.ts';
import { LimiterEvents } from '../port/events.ts';
import type { DropReason, Grant, Line, Waiter } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { type DecideReply, type Ledger, newestGrants, type Reply } from '../stores/store.ts';
import { PermitHandle, type Settlement } from './permitHandle.ts';
import type { LimiterStats } from './results.ts';

/** The options of a line. The lines of a group share theirs, which have neither limits nor a ledger. */
export interface LineOptions extends Partial<DispatcherOptions> {
  readonly name: string;
  readonly clock: Clock;
  readonly maxQueue: number;
}

/** What few lines of a group need. */
interface Rare {
  created: Dispatcher | undefined;
  events: LimiterEvents | undefined;
  /** Whether a grant without the dispatcher is being handed out. */
  isHandingOut: boolean;
  /** Whether the last decision was a refusal. */
  isRefusing: boolean;
  closed: boolean;
}

/** That of all other lines: one object for all of them keeps each line small. */
const common: Readonly<Rare> = {
  created: undefined,
  events: undefined,
  isHandingOut: false,
  isRefusing: false,
  closed: false,
};

/**
 * The line of a limiter over a ledger: converts permits to costs, and grants to permits.
 *
 * As long as nothing waits, calls go directly to the ledger. The dispatcher is created for the first request that may have to
 * wait.
 *
 * Its methods are `private`, as V8 adds a field to each object of a class with `#` methods.
 */
export class LedgerLine<P, Options extends LineOptions = LineOptions> implements Line<P>, Settlement {
  protected readonly options: Options;
  #rare: Readonly<Rare> = common;
  /** Calls and granted requests without the dispatcher. */
  #calls = 0;
  #granted = 0;
  /** Lookups in flight. */
  #lookups = 0;

  constructor(options: Options) {
    this.options = options;
    if (options.events) this.change().events = options.events;
  }

  private change(): Rare {
    if (this.#rare === common) this.#rare = { ...common };
    return this.#rare;
  }

  get name(): string {
    return this.options.name;
  }

  get named(): NamedLimits {
    return this.options.named!;
  }

  get ledger(): Ledger {
    return this.options.ledger!;
  }

  get events(): LimiterEvents {
    const { events } = this.#rare;
    if (events) return events;
    const created = new LimiterEvents(this.name);
    if (this.closed) created.close();
    this.change().events = created;
    return created;
  }

  /** The dispatcher, which is created if necessary. */
  get dispatcher(): Dispatcher {
    const { created = this.create() } = this.#rare;
    // A closed dispatcher refuses all requests.
    if (this.closed && !created.closed) void created.close();
    return created;
  }

  private create(): Dispatcher {
    const { name, named, ledger, events } = this;
    const { clock, maxQueue, client, alone, works } = this.options;
    const isBusy = () => this.#lookups > 0;
    const options = { name, named, ledger, clock, maxQueue, client, alone, events, works, isBusy };
    const created = new Dispatcher(options);
    if (this.#rare.isHandingOut) created.loop.enter();
    this.change().created = created;
    return created;
  }

  /** Whether a call to the ledger overtakes no request. */
  private isClear(): boolean {
    return !this.closed && !this.#rare.isHandingOut && (this.#rare.created?.isClear ?? true);
  }

  /** The ledger, if it replies at once, no request waits, and no event is to be emitted. */
  private quickLedger(): Ledger | undefined {
    const { ledger } = this;
    return ledger.sync && this.isClear() && !this.#rare.events?.observed ? ledger : undefined;
  }

  /** The fast path: takes permits that are available now. */
  take(cost: Cost): Grant | undefined {
    const grant = this.quickLedger()?.take?.(cost);
    if (grant) {
      this.#calls++;
      this.#granted++;
    }
    return grant;
  }

  costOf(permits: P, isRequest = true): Cost {
    const cost = costOf(this.named, permits);
    // Every limit can grant a single permit. If another rate may be stored by now, the store refuses permits beyond the limit.
    if (isRequest && permits !== 1 && exceeds(this.ledger.limits, cost) && this.knowsLimits()) {
      const error = this.exceedsError(cost);
      this.#rare.events?.emitError(error);
      throw error;
    }
    return cost;
  }

  private exceedsError(cost: Cost): Error {
    return exceedsError(this.name, this.named, this.ledger.limits, cost);
  }

  private knowsLimits(): boolean {
    return this.#rare.created?.knowsLimits ?? this.ledger.sync;
  }

  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T, replaces?: Request): Request {
    const grant = replaces ? undefined : this.take(cost);
    if (!grant) return this.dispatcher.ask(waiter, cost, timeout, data, replaces);
    this.handOut(waiter, grant, data);
    return settledRequest;
  }

  count<T>(waiter: Waiter<T>, cost: Cost, data?: T, timeout?: number): void {
    const grant = this.take(cost);
    if (grant) this.handOut(waiter, grant, data as T);
    else this.dispatcher.count(waiter, cost, data, timeout);
  }

  /** Grants a request whose permits are already taken. Requests that its callback makes are processed after it. */
  private handOut<T>(waiter: Waiter<T>, grant: Grant, data: T): void {
    const rare = this.change();
    rare.isHandingOut = true;
    rare.created?.loop.enter();
    try {
      waiter.granted(grant, data);
    } finally {
      rare.isHandingOut = false;
      rare.created?.loop.leave();
    }
  }

  cancel(request: Request): void {
    this.#rare.created?.cancel(request);
  }

  cancelAll(waiter: Waiter<never>): void {
    this.#rare.created?.cancelAll(waiter);
  }

  refund(grant: Grant): void {
    this.dispatcher.refund(grant);
  }

  reportDropped(value: unknown, reason: DropReason): void {
    if (this.#rare.events?.observed) this.#rare.events.emit({ type: 'dropped', value, reason });
  }

  permitOf(grant: Grant, permits: P, requestedAt?: number): Permit<P> {
    const waited = requestedAt === undefined ? 0 : Math.max(0, this.grantTime() - requestedAt);
    return new PermitHandle(grant, permits, waited, this);
  }

  refundPart(grant: Grant, cost: Cost): Promise<void> {
    const isWhole = sameCost(cost, grant.cost);
    return new Promise((resolve) => this.dispatcher.refund({ ...grant, cost }, () => resolve(), isWhole));
  }

  charge(grant: Grant, cost: Cost): Promise<void> {
    return new Promise((resolve) => this.dispatcher.charge({ ...grant, cost }, () => resolve()));
  }

  timeoutError(permits: P, timeout: number, retryAfter: number | undefined): AcquireTimeoutError {
    const isUnanswered = retryAfter === undefined && (this.#rare.created?.isOverdue ?? false);
    return new AcquireTimeoutError(this.name, permits as AskedPermits, timeout, retryAfter, isUnanswered);
  }

  private grantTime(): number {
    return this.#rare.created?.grantTime ?? this.now();
  }

  now(): number {
    return this.options.clock.now();
  }

  get requestTime(): number {
    return this.#rare.created?.requestTime ?? this.now();
  }

  after(ms: number, work: () => void): CancelTimer {
    return this.options.clock.after(ms, work);
  }

  get shortestInterval(): number {
    return shortestInterval(this.ledger);
  }

  get waits(): boolean {
    return this.#rare.created?.waits ?? false;
  }

  /**
   * Whether a request that may not wait can do without the dispatcher: it overtakes no request, shares no call with others,
   * and needs no refusal to be remembered.
   */
  get isQuiet(): boolean {
    return (
      this.idle &&
      !this.#rare.created &&
      !this.#rare.isRefusing &&
      !this.closed &&
      !this.#rare.events?.observed
    );
  }

  /** The fast path: the decision of a store that replies at once. */
  decideNow(cost: Cost): DecideReply | undefined {
    const decision = this.quickLedger()?.decideNow?.(cost);
    if (decision) this.note(decision);
    return decision;
  }

  private note({ granted }: DecideReply): void {
    // Compared, as most lines never refuse a request.
    if (this.#rare.isRefusing === granted) this.change().isRefusing = !granted;
    if (granted) this.#granted++;
  }

  /** Takes the cost if it is available now, after all earlier requests. */
  decide(cost: Cost, reply: Reply<DecideReply>): void {
    this.lookUp<DecideReply>(
      (done, last) =>
        this.ledger.decide(
          cost,
          (error, decision) =>
            decision?.retryAfter === Infinity ? done(this.exceedsError(cost)) : done(error, decision),
          last,
        ),
      (error, decision) => {
        if (decision) this.note(decision);
        // A subscriber may have been added during the call.
        if (this.#rare.events?.observed) this.dispatcher.reportDecision(cost, error, decision);
        reply(error, decision);
      },
    );
  }

  /** Replies with the permits of each limit that are available now, after all earlier requests. */
  peek(reply: Reply<number[]>): void {
    this.lookUp<number[]>((done) => this.ledger.peek(done), reply);
  }

  /** Makes a call after all earlier requests; closing waits for its reply. */
  lookUp<T>(call: (done: Reply<T>, last?: Grant) => void, reply: Reply<T>): void {
    const done: Reply<T> = (error, result) => {
      this.#lookups--;
      if (error) this.#rare.events?.emitError(error);
      reply(error, result);
      this.#rare.created?.reportIdle();
    };
    const send = (last?: Grant) => {
      this.#lookups++;
      call(done, last);
    };
    if (this.isClear()) send();
    else this.dispatcher.lookUp(send, reply);
  }

  /** Refunds the newest grants; `settled` is called once the store has replied. */
  release(cost: Cost, settled: OnRefunded): void {
    const { source } = this.ledger;
    if (this.closed) settled(new LimiterClosedError(this.name));
    else this.dispatcher.refund({ cost, moment: newestGrants, epoch: 0, source }, settled);
  }

  get stats(): LimiterStats {
    const stats = this.#rare.created?.stats ?? untouched;
    return { ...stats, calls: stats.calls + this.#calls, granted: stats.granted + this.#granted };
  }

  get idle(): boolean {
    return this.#lookups === 0 && (this.#rare.created?.idle ?? true);
  }

  get closed(): boolean {
    return this.#rare.closed;
  }

  /** From now on, no waiting request is granted. `close` has to follow. Returns whether there may be such requests. */
  stop(): boolean {
    this.#rare.created?.stop();
    return this.#rare.created !== undefined;
  }

  async close(): Promise<void> {
    const isUsed = this.#rare.created !== undefined || this.#lookups > 0;
    this.change().closed = true;
    if (isUsed) await this.dispatcher.close();
    else this.#rare.events?.close();
  }
}

const untouched: LimiterStats = {
  queued: 0,
  reserved: 0,
  calls: 0,
  granted: 0,
  contenders: 1,
  roundTrip: 0,
};
