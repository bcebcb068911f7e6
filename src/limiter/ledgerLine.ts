import type { CancelTimer, Clock } from '../clock.ts';
import { type AskedPermits, LimiterClosedError } from '../errors.ts';
import { exceeds } from '../limits/limit.ts';
import { type Cost, type DecideReply, type Ledger, newestGrants, type Reply } from '../stores/store.ts';
import { costOf, exceedsError, type NamedLimits } from './cost.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import type { Entry } from './entry.ts';
import { LimiterEvents } from './events.ts';
import type { DropReason, Grant, Line, Waiter } from './line.ts';
import type { Permit } from './permit.ts';
import { PermitHandle, type Settlement } from './permitHandle.ts';
import type { Settled } from './refunds.ts';

/** The line of a limiter over a ledger: what is asked for becomes a cost, and what is granted a permit. */
export class LedgerLine<P> implements Line<P> {
  readonly #named: NamedLimits;
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #dispatcher: Dispatcher;
  readonly #settlement: Settlement;
  readonly name: string;

  readonly events: LimiterEvents;

  constructor(options: DispatcherOptions) {
    this.name = options.name;
    this.#named = options.named;
    this.#ledger = options.ledger;
    this.#clock = options.clock;
    this.events = new LimiterEvents(options.name);
    this.#dispatcher = new Dispatcher({ ...options, events: this.events });
    this.#settlement = {
      named: options.named,
      giveBack: (grant, cost) =>
        new Promise((resolve) => this.#dispatcher.giveBack({ ...grant, cost }, () => resolve())),
      charge: (grant, cost) =>
        new Promise((resolve) => this.#dispatcher.charge({ ...grant, cost }, () => resolve())),
    };
  }

  /** Takes permits that are there at once, if nobody waits: see the dispatcher. */
  take(cost: Cost): Grant | undefined {
    return this.#dispatcher.take(cost);
  }

  costOf(permits: P): Cost {
    const cost = costOf(this.#named, permits);
    const { limits } = this.#ledger;
    // Where another rate may be stored by now, the store says what is too much.
    if (this.#dispatcher.knowsLimits && exceeds(limits, cost))
      throw exceedsError(this.name, this.#named, limits, permits as AskedPermits);
    return cost;
  }

  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T, instead?: Entry): Entry {
    return this.#dispatcher.ask(waiter, cost, timeout, data, instead);
  }

  count(waiter: Waiter<undefined>, cost: Cost): void {
    this.#dispatcher.count(waiter, cost);
  }

  cancel(entry: Entry): void {
    this.#dispatcher.cancel(entry);
  }

  abandon(waiter: Waiter<never>): void {
    this.#dispatcher.abandon(waiter);
  }

  giveBack(grant: Grant): void {
    this.#dispatcher.giveBack(grant);
  }

  dropped(value: unknown, reason: DropReason): void {
    if (this.events.heard) this.events.tell({ type: 'dropped', value, reason });
  }

  permitOf(grant: Grant, permits: P, asked?: number): Permit<P> {
    const waited = asked === undefined ? 0 : Math.max(0, this.now() - asked);
    return new PermitHandle(grant, permits, waited, this.#settlement);
  }

  now(): number {
    return this.#dispatcher.now();
  }

  after(ms: number, work: () => void): CancelTimer {
    return this.#clock.after(ms, work);
  }

  get shortestInterval(): number {
    let shortest = Infinity;
    for (const { interval } of this.#ledger.limits) shortest = Math.min(shortest, interval);
    return shortest;
  }

  get waits(): boolean {
    return this.#dispatcher.waits;
  }

  /** Takes the cost if it is there at once, behind those who came before. */
  decide(cost: Cost, reply: Reply<DecideReply>): void {
    this.#dispatcher.decide(cost, reply);
  }

  /** Says what could be granted at once, behind those who came before. */
  peek(reply: Reply<number[]>): void {
    this.#dispatcher.peek(reply);
  }

  /** Gives permits back from whatever was granted last; `settled` is called once the store has answered. */
  release(cost: Cost, settled: Settled): void {
    const { source } = this.#ledger;
    if (this.closed) settled(new LimiterClosedError(this.name));
    else this.#dispatcher.giveBack({ cost, moment: newestGrants, epoch: 0, source }, settled);
  }

  /** Changes what holds for the whole fleet. */
  steer<T>(change: (done: Reply<T>) => void, reply: Reply<T>): void {
    this.#dispatcher.steer(change, reply);
  }

  /** Lets the whole fleet pause. */
  pause(change: (done: Reply<number>) => void, reply: Reply<number>): void {
    this.#dispatcher.pause(change, reply);
  }

  /** Forgets what was granted, and lifts a pause. */
  forget(change: (done: Reply<void>) => void, reply: Reply<void>): void {
    this.#dispatcher.forget(change, reply);
  }

  get stats() {
    return this.#dispatcher.stats;
  }

  get idle(): boolean {
    return this.#dispatcher.idle;
  }

  get closed(): boolean {
    return this.#dispatcher.closed;
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }
}
