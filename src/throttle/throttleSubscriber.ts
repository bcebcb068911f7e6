import { Subscriber } from 'rxjs';
import {
  AcquireTimeoutError,
  type AskedPermits,
  QueueOverflowError,
  RateLimitExceededError,
} from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Line, Ticket, Waiter } from '../port/line.ts';
import { Ring } from '../ring.ts';
import { Backlog, type Waiting } from './backlog.ts';
import type { ThrottlePlan } from './throttleOptions.ts';

/** A waiting value, as the data of its request. */
export interface Item<T, P> extends Waiting {
  value: T;
  line: Line<P>;
  permits: P;
  requestedAt: number;
  ticket: Ticket | undefined;
}

/**
 * One subscription of `throttleDistributed`: requests permits for each value of the source.
 *
 * If all values are alike, they wait in a ring, and the line only counts them. Otherwise each is the data of its request.
 * This is a Subscriber, so that a synchronous source stops at the value at which its consumer unsubscribes.
 */
export class ThrottleSubscriber<T, P, R> extends Subscriber<T> implements Waiter<Item<T, P> | undefined> {
  readonly cancelsAll = true;
  readonly #output: Subscriber<R>;
  readonly #plan: ThrottlePlan<T, P, R>;
  /** The values that the line only counts. */
  readonly #values = new Ring<T>();
  readonly #backlog = new Backlog<Item<T, P>>();
  /** With a key: the number of waiting values of each line that has some. */
  readonly #waitingIn = new Map<Line<P>, number>();
  /** The line of the last value, and the cost of that value. */
  #line: Line<P> | undefined;
  #cost: Cost = [];
  #index = 0;
  /** How many values wait. */
  protected waiting = 0;
  #isCompleted = false;

  constructor(output: Subscriber<R>, plan: ThrottlePlan<T, P, R>) {
    super(output);
    this.#output = output;
    this.#plan = plan;
    output.add(() => this.#stop());
  }

  protected override _next(value: T): void {
    const { lineOf, overflow, counted, project, permits: permitsOf } = this.#plan;
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
      this.#output.error(error);
      return;
    }
    // A user's function may have unsubscribed.
    if (this.#output.closed) return;
    const cost = this.#cost;
    this.#line = line;
    if (counted) {
      this.waiting++;
      this.#values.push(value);
      line.count(this as Waiter<undefined>, cost);
      return;
    }
    const requestedAt = project ? line.now() : 0;
    this.#request(
      { value, line, permits, requestedAt, ticket: undefined, state: 'waiting', counts: false },
      cost,
    );
  }

  protected override _complete(): void {
    this.unsubscribe();
    this.#isCompleted = true;
    this.#completeIfDone();
  }

  granted(grant: Grant, item: Item<T, P> | undefined): void {
    // After unsubscription, lines that are still to be cancelled may grant.
    if (item && (item.state === 'dropped' || this.#output.closed)) {
      item.line.refund(grant);
      return;
    }
    const { project } = this.#plan;
    const value = item ? item.value : this.#values.shift();
    if (item) this.#leave(item, 'done');
    else this.waiting--;
    let output = value as unknown as R;
    try {
      if (item && project) {
        const { line, permits, requestedAt } = item;
        output = project(value, line.permitOf(grant, permits, requestedAt));
      }
    } catch (error) {
      item!.line.refund(grant);
      this.#output.error(error);
      return;
    }
    // The function may have unsubscribed.
    if (this.#output.closed) item?.line.refund(grant);
    else this.#output.next(output);
    this.#completeIfDone();
  }

  denied(retryAfter: number | undefined, item: Item<T, P> | undefined): void {
    if (item?.state === 'dropped' || this.#output.closed) return;
    this.#leave(item!, 'done');
    const { strategy, onTimeout, timeout } = this.#plan;
    const { line, value } = item!;
    const { name } = line;
    const permits = item!.permits as AskedPermits;
    if (strategy === 'error') this.#output.error(new RateLimitExceededError(name, permits, retryAfter));
    else if (strategy === 'wait' && onTimeout === 'error')
      this.#output.error(new AcquireTimeoutError(name, permits, timeout, retryAfter));
    else {
      line.reportDropped(value, strategy === 'drop' ? 'strategy' : 'timeout');
      this.#completeIfDone();
    }
  }

  delayed(item: Item<T, P> | undefined): void {
    const { overflow, maxQueue } = this.#plan;
    if (!item || maxQueue === Infinity) return;
    this.#backlog.delayed(item.line);
    while (this.#backlog.count > maxQueue && !this.#output.closed) {
      if (overflow === 'error') this.#output.error(this.#overflowError());
      else this.#drop(overflow === 'dropOldest' ? this.#backlog.oldest : this.#backlog.newest);
    }
  }

  failed(error: Error): void {
    if (!this.#output.closed) this.#output.error(error);
  }

  #request(item: Item<T, P>, cost: Cost): void {
    const { overflow, maxQueue, timeout, keyed } = this.#plan;
    let oldest: Item<T, P> | undefined;
    const { line } = item;
    if (overflow === 'dropOldest' && this.#isFull(line)) {
      oldest = this.#backlog.oldest;
      this.#leave(oldest, 'dropped');
    }
    if (maxQueue !== Infinity) this.#backlog.add(item);
    this.waiting++;
    if (keyed) this.#waitingIn.set(line, (this.#waitingIn.get(line) ?? 0) + 1);
    const replaces = oldest?.line === line ? oldest.ticket : undefined;
    item.ticket = line.ask(this, cost, timeout, item, replaces);
    if (oldest?.ticket && !replaces) oldest.line.cancel(oldest.ticket);
    // The request may have been granted at once, and the consumer may have added values that dropped this one.
    if ((item.state as string) === 'dropped') line.cancel(item.ticket);
    oldest?.line.reportDropped(oldest.value, 'overflow');
  }

  #isFull(line: Line<P>): boolean {
    const { maxQueue } = this.#plan;
    if (this.waiting < maxQueue) return false;
    this.#backlog.countOverdue(line);
    return this.#backlog.count >= maxQueue;
  }

  #overflowError(): QueueOverflowError {
    return new QueueOverflowError(this.#plan.name, this.#plan.maxQueue);
  }

  #drop(item: Item<T, P>): void {
    const { line, ticket, value } = item;
    this.#leave(item, 'dropped');
    if (ticket) line.cancel(ticket);
    line.reportDropped(value, 'overflow');
  }

  #leave(item: Item<T, P>, state: 'done' | 'dropped'): void {
    const { keyed, maxQueue } = this.#plan;
    const { line } = item;
    item.state = state;
    this.waiting--;
    if (keyed) {
      const waiting = this.#waitingIn.get(line)! - 1;
      if (waiting > 0) this.#waitingIn.set(line, waiting);
      else this.#waitingIn.delete(line);
    }
    if (maxQueue !== Infinity) this.#backlog.remove(item);
  }

  #completeIfDone(): void {
    if (this.#isCompleted && this.waiting === 0) this.#output.complete();
  }

  #stop(): void {
    if (this.waiting > 0) {
      const lines = this.#plan.keyed ? [...this.#waitingIn.keys()] : [this.#line!];
      for (const line of lines) line.cancelAll(this);
    }
    this.#values.clear();
    this.#backlog.clear();
  }
}
