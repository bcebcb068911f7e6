import type { Clock } from '../clock.ts';
import type { AskedPermits } from '../errors.ts';
import type { Cost, DecideReply, Ledger, Reply } from '../stores/store.ts';
import { assertWithin, costOf, type NamedLimits } from './cost.ts';
import { Dispatcher } from './dispatcher.ts';
import type { Entry } from './entry.ts';
import type { Grant, Line, Waiter } from './line.ts';
import type { Permit } from './permit.ts';
import { PermitHandle } from './permitHandle.ts';

/** The line of a limiter over a ledger: what is asked for becomes a cost, and what is granted a permit. */
export class LedgerLine<P> implements Line<P> {
  readonly #named: NamedLimits;
  readonly #dispatcher: Dispatcher;
  readonly name: string;

  constructor(options: { name: string; named: NamedLimits; ledger: Ledger; clock: Clock; maxQueue: number }) {
    this.name = options.name;
    this.#named = options.named;
    this.#dispatcher = new Dispatcher(options);
  }

  costOf(permits: P): Cost {
    const cost = costOf(this.#named, permits);
    assertWithin(this.name, this.#named, cost, permits as AskedPermits);
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

  permitOf(grant: Grant, permits: P, asked: number): Permit<P> {
    const refund = (granted: Grant, cost: Cost) =>
      new Promise<void>((resolve) => this.#dispatcher.giveBack({ ...granted, cost }, resolve));
    return new PermitHandle(grant, this.#named, permits, Math.max(0, this.now() - asked), refund);
  }

  now(): number {
    return this.#dispatcher.now();
  }

  /** Takes the cost if it is there at once, behind those who came before. */
  decide(cost: Cost, reply: Reply<DecideReply>): void {
    this.#dispatcher.decide(cost, reply);
  }

  /** Says what could be granted at once, behind those who came before. */
  peek(reply: Reply<number[]>): void {
    this.#dispatcher.peek(reply);
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
