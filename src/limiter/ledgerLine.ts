import type { CancelTimer } from '../clock.ts';
import { Dispatcher, type DispatcherOptions } from '../dispatcher/dispatcher.ts';
import type { Refunded } from '../dispatcher/refunds.ts';
import type { Request } from '../dispatcher/request.ts';
import { type AskedPermits, LimiterClosedError } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import { costOf, exceedsError } from '../limits/cost.ts';
import { exceeds } from '../limits/limit.ts';
import { LimiterEvents } from '../port/events.ts';
import type { DropReason, Grant, Line, Waiter } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { type DecideReply, newestGrants, type Reply } from '../stores/store.ts';
import { PermitHandle, type Settlement } from './permitHandle.ts';
import type { LimiterStats } from './results.ts';

/**
 * The line of a limiter over a ledger: what is asked for becomes a cost, and what is granted a permit.
 *
 * Its dispatcher is made when somebody may have to wait. Until then, questions go to the ledger as they come.
 */
export class LedgerLine<P> implements Line<P> {
  readonly #options: DispatcherOptions;
  #made: Dispatcher | undefined;
  #events: LimiterEvents | undefined;
  #settlement: Settlement | undefined;
  /** Calls made and requests granted without the dispatcher. */
  #calls = 0;
  #granted = 0;
  /** Questions to the ledger that are under way without the dispatcher. */
  #asking = 0;
  #closed = false;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#events = options.events;
  }

  get name(): string {
    return this.#options.name;
  }

  /** What happens here, for those who listen. */
  get events(): LimiterEvents {
    this.#events ??= new LimiterEvents(this.name);
    return this.#events;
  }

  get #dispatcher(): Dispatcher {
    if (this.#made) return this.#made;
    const { name, named, ledger, clock, maxQueue, alone = false } = this.#options;
    const isBusy = () => this.#asking > 0;
    this.#made = new Dispatcher({ name, named, ledger, clock, maxQueue, alone, events: this.events, isBusy });
    // It refuses whatever comes after the end.
    if (this.#closed) void this.#made.close();
    return this.#made;
  }

  /** Takes permits that are there at once, if nobody waits: see the dispatcher. */
  take(cost: Cost): Grant | undefined {
    if (this.#made) return this.#made.take(cost);
    const { ledger } = this.#options;
    if (!ledger.take || this.#closed || this.#events?.observed) return undefined;
    const grant = ledger.take(cost);
    if (grant) {
      this.#calls++;
      this.#granted++;
    }
    return grant;
  }

  costOf(permits: P): Cost {
    const { named, ledger } = this.#options;
    const cost = costOf(named, permits);
    const { limits } = ledger;
    const isKnown = this.#made ? this.#made.knowsLimits : ledger.sync;
    // Where another rate may be stored by now, the store says what is too much.
    if (isKnown && exceeds(limits, cost))
      throw exceedsError(this.name, named, limits, permits as AskedPermits);
    return cost;
  }

  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T, replaces?: Request): Request {
    return this.#dispatcher.ask(waiter, cost, timeout, data, replaces);
  }

  count(waiter: Waiter<undefined>, cost: Cost): void {
    this.#dispatcher.count(waiter, cost);
  }

  cancel(entry: Request): void {
    this.#dispatcher.cancel(entry);
  }

  cancelAll(waiter: Waiter<never>): void {
    this.#dispatcher.cancelAll(waiter);
  }

  refund(grant: Grant): void {
    this.#dispatcher.refund(grant);
  }

  dropped(value: unknown, reason: DropReason): void {
    if (this.#events?.observed) this.#events.emit({ type: 'dropped', value, reason });
  }

  permitOf(grant: Grant, permits: P, asked?: number): Permit<P> {
    const waited = asked === undefined ? 0 : Math.max(0, this.now() - asked);
    this.#settlement ??= {
      named: this.#options.named,
      giveBack: (granted, cost) =>
        new Promise((resolve) => this.#dispatcher.refund({ ...granted, cost }, () => resolve())),
      charge: (granted, cost) =>
        new Promise((resolve) => this.#dispatcher.charge({ ...granted, cost }, () => resolve())),
    };
    return new PermitHandle(grant, permits, waited, this.#settlement);
  }

  now(): number {
    return this.#options.clock.now();
  }

  after(ms: number, work: () => void): CancelTimer {
    return this.#options.clock.after(ms, work);
  }

  get shortestInterval(): number {
    let shortest = Infinity;
    for (const { interval } of this.#options.ledger.limits) shortest = Math.min(shortest, interval);
    return shortest;
  }

  get waits(): boolean {
    return this.#made?.waits ?? false;
  }

  /** Takes the cost if it is there at once, behind those who came before. */
  decide(cost: Cost, reply: Reply<DecideReply>): void {
    if (this.#isTaken) this.#dispatcher.decide(cost, reply);
    else
      this.#ask<DecideReply>(
        (done) => this.#options.ledger.decide(cost, done),
        (error, decision) => {
          if (decision?.granted) this.#granted++;
          // Somebody may have begun to listen.
          if (this.#events?.observed) this.#dispatcher.decided(cost, error, decision);
          reply(error, decision);
        },
      );
  }

  /** Says what could be granted at once, behind those who came before. */
  peek(reply: Reply<number[]>): void {
    if (this.#isTaken) this.#dispatcher.peek(reply);
    else this.#ask<number[]>((done) => this.#options.ledger.peek(done), reply);
  }

  /** Whether a question has to go through the dispatcher: others wait, somebody listens, or all is refused. */
  get #isTaken(): boolean {
    return this.#closed || (this.#made !== undefined && !this.#made.idle) || this.#events?.observed === true;
  }

  #ask<T>(question: (done: Reply<T>) => void, reply: Reply<T>): void {
    this.#asking++;
    question((error, answer) => {
      this.#asking--;
      reply(error, answer);
      this.#made?.tellIdle();
    });
  }

  /** Gives permits back from whatever was granted last; `settled` is called once the store has answered. */
  release(cost: Cost, settled: Refunded): void {
    const { source } = this.#options.ledger;
    if (this.closed) settled(new LimiterClosedError(this.name));
    else this.#dispatcher.refund({ cost, moment: newestGrants, epoch: 0, source }, settled);
  }

  /** Changes what holds for the whole fleet. */
  changeLimit<T>(change: (done: Reply<T>) => void, reply: Reply<T>): void {
    this.#dispatcher.changeLimit(change, reply);
  }

  /** Lets the whole fleet pause. */
  pause(change: (done: Reply<number>) => void, reply: Reply<number>): void {
    this.#dispatcher.pause(change, reply);
  }

  /** Forgets what was granted, and lifts a pause. */
  forget(change: (done: Reply<void>) => void, reply: Reply<void>): void {
    this.#dispatcher.forget(change, reply);
  }

  get stats(): LimiterStats {
    const stats = this.#made?.stats ?? untouched;
    return { ...stats, calls: stats.calls + this.#calls, granted: stats.granted + this.#granted };
  }

  get idle(): boolean {
    return this.#asking === 0 && (this.#made?.idle ?? true);
  }

  get closed(): boolean {
    return this.#closed;
  }

  async close(): Promise<void> {
    const isUsed = this.#made !== undefined || this.#asking > 0;
    this.#closed = true;
    if (isUsed) await this.#dispatcher.close();
    else this.#events?.close();
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
