import type { Subscriber } from 'rxjs';
import { type AskedPermits, QueueOverflowError, RateLimitExceededError } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Line, Ticket, Waiter } from '../port/line.ts';
import { Backlog, type Waiting } from './backlog.ts';
import type { ThrottlePlan } from './throttleOptions.ts';
import { ThrottleSubscriber } from './throttleSubscriber.ts';

/** The ranks of values by their order of arrival. The order does not matter if no waiting value is dropped. */
const ages = { error: 0, dropOldest: 1, dropNewest: -1 };

/** A waiting value, as the data of its request. */
export interface Item<T, P> extends Waiting<P> {
  readonly value: T;
  readonly permits: P;
  readonly requestedAt: number;
  ticket: Ticket | undefined;
}

/** A subscription whose values may differ: each is the data of its own request. */
export class RequestingSubscriber<T, P, R> extends ThrottleSubscriber<T, R> implements Waiter<Item<T, P>> {
  readonly #plan: ThrottlePlan<T, P, R>;
  readonly #backlog: Backlog<Item<T, P>, P>;
  /** The line of the last value, and the cost of that value. */
  #line: Line<P> | undefined;
  #cost: Cost = [];
  #index = 0;

  constructor(output: Subscriber<R>, plan: ThrottlePlan<T, P, R>) {
    super(output);
    this.#plan = plan;
    this.#backlog = new Backlog(plan.maxQueue);
  }

  protected override _next(value: T): void {
    const { lineOf, overflow, project, permits: permitsOf } = this.#plan;
    const index = this.#index++;
    const varies = typeof permitsOf === 'function';
    let line: Line<P>;
    let permits: P;
    try {
      line = lineOf(value);
      if (overflow !== 'dropOldest' && this.#isFull(line)) {
        if (overflow === 'error') throw this.#overflowError();
        line.reportDropped(value, 'overflow');
        return;
      }
      permits = varies ? (permitsOf as (value: T, index: number) => P)(value, index) : permitsOf;
      if (varies || line !== this.#line) this.#cost = line.costOf(permits);
    } catch (error) {
      this.fail(error);
      return;
    }
    // A user's function may have unsubscribed.
    if (this.hasEnded) return;
    this.#line = line;
    this.#request({
      value,
      line,
      permits,
      requestedAt: project ? line.now() : 0,
      ticket: undefined,
      counts: false,
      rank: index * ages[overflow],
      heapIndex: -1,
    });
  }

  #request(item: Item<T, P>): void {
    const { overflow, timeout } = this.#plan;
    const cost = this.#cost;
    const { line } = item;
    let oldest: Item<T, P> | undefined;
    if (overflow === 'dropOldest' && this.#isFull(line)) oldest = this.#leave(this.#backlog.first);
    this.#backlog.add(item);
    this.waiting++;
    const replaces = oldest?.line === line ? oldest.ticket : undefined;
    item.ticket = line.ask(this, cost, timeout, item, replaces);
    if (oldest?.ticket && !replaces) oldest.line.cancel(oldest.ticket);
    // The request may have been granted at once, and the consumer may have added values that dropped this one.
    if (item.heapIndex < 0) line.cancel(item.ticket);
    oldest?.line.reportDropped(oldest.value, 'overflow');
  }

  granted(grant: Grant, item: Item<T, P>): void {
    const { line, permits, requestedAt, value } = item;
    // After unsubscription, lines that are still to be cancelled may grant.
    if (item.heapIndex < 0 || this.hasEnded) {
      line.refund(grant);
      return;
    }
    const { project } = this.#plan;
    this.#leave(item);
    let output = value as unknown as R;
    if (project) {
      const permit = line.permitOf(grant, permits, requestedAt);
      try {
        output = project(value, permit);
      } catch (error) {
        // Through the permit, as the function may have refunded it.
        void permit.refund();
        this.fail(error);
        return;
      }
      // The function may have unsubscribed.
      if (this.hasEnded) {
        void permit.refund();
        return;
      }
    }
    this.output.next(output);
    this.completeIfDone();
  }

  denied(retryAfter: number | undefined, item: Item<T, P>): void {
    if (item.heapIndex < 0 || this.hasEnded) return;
    this.#leave(item);
    const { strategy, onTimeout, timeout } = this.#plan;
    const { line, value, permits } = item;
    if (strategy === 'error')
      this.fail(new RateLimitExceededError(line.name, permits as AskedPermits, retryAfter, timeout));
    else if (strategy === 'wait' && onTimeout === 'error')
      this.fail(line.timeoutError(permits, timeout, retryAfter));
    else {
      line.reportDropped(value, strategy === 'drop' ? 'strategy' : 'timeout');
      this.completeIfDone();
    }
  }

  delayed(item: Item<T, P>): void {
    const { overflow } = this.#plan;
    const backlog = this.#backlog;
    backlog.delayed(item.line);
    while (backlog.excess > 0 && !this.hasEnded) {
      if (overflow === 'error') this.fail(this.#overflowError());
      else {
        const { line, ticket, value } = this.#leave(backlog.first);
        if (ticket) line.cancel(ticket);
        line.reportDropped(value, 'overflow');
      }
    }
  }

  #isFull(line: Line<P>): boolean {
    if (this.waiting < this.#plan.maxQueue) return false;
    this.#backlog.countOverdue(line);
    return this.#backlog.excess >= 0;
  }

  #overflowError(): QueueOverflowError {
    return new QueueOverflowError(this.#plan.name, this.#plan.maxQueue);
  }

  #leave(item: Item<T, P>): Item<T, P> {
    this.waiting--;
    this.#backlog.remove(item);
    return item;
  }

  protected override cancel(): void {
    for (const line of this.#backlog.lines) line.cancelAll(this);
  }
}
