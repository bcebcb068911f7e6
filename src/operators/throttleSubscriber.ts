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
import type { Lines } from './lines.ts';
import type { ThrottlePlan } from './throttleOptions.ts';

/** A value that waits, with what it costs; the line carries it. */
interface Item<T, P> extends Waiting {
  value: T;
  line: Line<P>;
  permits: P;
  asked: number;
  ticket: Ticket | undefined;
}

/**
 * One subscription of `throttleDistributed`: it subscribes to the source, and stands in a limiter's line for each value.
 *
 * Values that nothing tells apart lie in a ring and are only counted by the line; others are carried by their requests.
 * It is a Subscriber so that a synchronous source stops at the very value at which its consumer has unsubscribed.
 */
export class ThrottleSubscriber<T, P, R> extends Subscriber<T> implements Waiter<Item<T, P> | undefined> {
  readonly cancelsAll = true;
  readonly #output: Subscriber<R>;
  readonly #lines: Lines<T, P>;
  readonly #plan: ThrottlePlan<T, P, R>;
  readonly #values = new Ring<T>();
  /** Where only so many may wait. */
  readonly #backlog = new Backlog<Item<T, P>>();
  /** What a value costs in the line of the last one, where all ask for the same permits. */
  #cost: Cost = [];
  #costIn: Line<P> | undefined;
  #index = 0;
  #waiting = 0;
  #completed = false;

  constructor(output: Subscriber<R>, lines: Lines<T, P>, plan: ThrottlePlan<T, P, R>) {
    super(output);
    this.#output = output;
    this.#lines = lines;
    this.#plan = plan;
    output.add(() => this.#stop());
  }

  protected override _next(value: T): void {
    const { overflow, counted } = this.#plan;
    const index = this.#index++;
    let line: Line<P>;
    let cost: Cost;
    let permits: P;
    try {
      line = this.#lines.lineOf(value);
      if (overflow !== 'dropOldest' && this.#isFull(line)) {
        if (overflow === 'error') throw this.#overflowError();
        line.dropped(value, 'overflow');
        return;
      }
      permits = this.#permitsOf(value, index);
      cost = this.#costOf(line, permits);
    } catch (error) {
      this.#output.error(error);
      return;
    }
    // One of the functions may have unsubscribed.
    if (this.#output.closed) return;
    if (counted) {
      this.#waiting++;
      this.#values.push(value);
      line.count(this as Waiter<undefined>, cost);
      return;
    }
    const asked = this.#plan.project ? line.now() : 0;
    this.#ask({ value, line, permits, asked, ticket: undefined, state: 'waits', known: false }, cost);
  }

  protected override _complete(): void {
    this.unsubscribe();
    this.#completed = true;
    this.#completeWhenDone();
  }

  granted(grant: Grant, item: Item<T, P> | undefined): void {
    // The subscriber may have left one line after the other.
    if (item && (item.state === 'dropped' || this.#output.closed)) {
      item.line.refund(grant);
      return;
    }
    const value = item ? item.value : this.#values.shift();
    if (item) this.#leave(item, 'done');
    else this.#waiting--;
    let output: R;
    try {
      output = item && this.#plan.project ? this.#project(item, grant) : (value as unknown as R);
    } catch (error) {
      item!.line.refund(grant);
      this.#output.error(error);
      return;
    }
    this.#output.next(output);
    this.#completeWhenDone();
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
      line.dropped(value, strategy === 'drop' ? 'strategy' : 'timeout');
      this.#completeWhenDone();
    }
  }

  delayed(item: Item<T, P> | undefined): void {
    const { overflow, maxQueue } = this.#plan;
    if (!item || maxQueue === Infinity) return;
    this.#backlog.answered(item.line);
    while (this.#backlog.count > maxQueue && !this.#output.closed) {
      if (overflow === 'error') this.#output.error(this.#overflowError());
      else this.#drop(overflow === 'dropOldest' ? this.#backlog.oldest : this.#backlog.newest);
    }
  }

  failed(error: Error): void {
    if (!this.#output.closed) this.#output.error(error);
  }

  #ask(item: Item<T, P>, cost: Cost): void {
    const { overflow, maxQueue, timeout } = this.#plan;
    let oldest: Item<T, P> | undefined;
    const { line } = item;
    if (overflow === 'dropOldest' && this.#isFull(line)) {
      oldest = this.#backlog.oldest;
      this.#leave(oldest, 'dropped');
    }
    if (maxQueue !== Infinity) this.#backlog.add(item);
    this.#waiting++;
    this.#lines.joined(line);
    const instead = oldest?.line === line ? oldest.ticket : undefined;
    item.ticket = line.ask(this, cost, timeout, item, instead);
    if (oldest?.ticket && !instead) oldest.line.cancel(oldest.ticket);
    // A value that came meanwhile may have dropped it.
    if ((item.state as string) === 'dropped') line.cancel(item.ticket);
    oldest?.line.dropped(oldest.value, 'overflow');
  }

  /** Whether as many values as may are known to wait. */
  #isFull(line: Line<P>): boolean {
    const { maxQueue } = this.#plan;
    if (this.#waiting < maxQueue) return false;
    this.#backlog.lookAgain(line);
    return this.#backlog.count >= maxQueue;
  }

  #overflowError(): QueueOverflowError {
    return new QueueOverflowError(this.#lines.name, this.#plan.maxQueue);
  }

  /** Drops one that has to wait. */
  #drop(item: Item<T, P>): void {
    const { line, ticket, value } = item;
    this.#leave(item, 'dropped');
    if (ticket) line.cancel(ticket);
    line.dropped(value, 'overflow');
  }

  #leave(item: Item<T, P>, state: 'done' | 'dropped'): void {
    item.state = state;
    this.#waiting--;
    this.#lines.left(item.line);
    if (this.#plan.maxQueue !== Infinity) this.#backlog.left(item);
  }

  #project({ value, line, permits, asked }: Item<T, P>, grant: Grant): R {
    return this.#plan.project!(value, line.permitOf(grant, permits, asked));
  }

  #permitsOf(value: T, index: number): P {
    const { permits } = this.#plan;
    return typeof permits === 'function'
      ? (permits as (value: T, index: number) => P)(value, index)
      : permits;
  }

  #costOf(line: Line<P>, permits: P): Cost {
    if (typeof this.#plan.permits === 'function') return line.costOf(permits);
    if (this.#costIn !== line) {
      this.#cost = line.costOf(permits);
      this.#costIn = line;
    }
    return this.#cost;
  }

  #completeWhenDone(): void {
    if (this.#completed && this.#waiting === 0) this.#output.complete();
  }

  #stop(): void {
    if (this.#waiting > 0) this.#lines.abandon(this);
    this.#values.clear();
    this.#backlog.clear();
  }
}
