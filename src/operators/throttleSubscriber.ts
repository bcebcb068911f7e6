import { Subscriber } from 'rxjs';
import {
  AcquireTimeoutError,
  type AskedPermits,
  QueueOverflowError,
  RateLimitExceededError,
} from '../errors.ts';
import type { Entry } from '../limiter/entry.ts';
import type { Grant, Line, Waiter } from '../limiter/line.ts';
import type { Cost } from '../stores/store.ts';
import { Ring } from './ring.ts';
import type { ThrottlePlan } from './throttleOptions.ts';

/** A value that waits, with what it costs; the line carries it. */
interface Item<T, P> {
  value: T;
  permits: P;
  asked: number;
  entry: Entry | undefined;
  state: 'waits' | 'done' | 'dropped';
}

/**
 * One subscription of `throttleDistributed`: it subscribes to the source, and stands in the limiter's line for each value.
 *
 * Values that nothing tells apart lie in a ring and are only counted by the line; others are carried by their requests.
 * It is a Subscriber so that a synchronous source stops at the very value at which its consumer has unsubscribed.
 */
export class ThrottleSubscriber<T, P, R> extends Subscriber<T> implements Waiter<Item<T, P> | undefined> {
  readonly #output: Subscriber<R>;
  readonly #line: Line<P>;
  readonly #plan: ThrottlePlan<T, P, R>;
  readonly #values = new Ring<T>();
  /** Where the oldest may have to make room. */
  readonly #items = new Ring<Item<T, P>>();
  #cost: Cost | undefined;
  #index = 0;
  #waiting = 0;
  #completed = false;

  constructor(output: Subscriber<R>, line: Line<P>, plan: ThrottlePlan<T, P, R>) {
    super(output);
    this.#output = output;
    this.#line = line;
    this.#plan = plan;
    output.add(() => this.#stop());
  }

  protected override _next(value: T): void {
    const { maxQueue, overflow, counted } = this.#plan;
    const index = this.#index++;
    const full = this.#waiting >= maxQueue;
    if (full && overflow === 'dropNewest') return;
    if (full && overflow === 'error') {
      this.#output.error(new QueueOverflowError(this.#line.name, maxQueue));
      return;
    }
    let cost: Cost;
    let permits: P;
    try {
      permits = this.#permitsOf(value, index);
      cost = this.#costOf(permits);
    } catch (error) {
      this.#output.error(error);
      return;
    }
    // The function may have unsubscribed.
    if (this.#output.closed) return;
    if (counted) {
      this.#waiting++;
      this.#values.push(value);
      this.#line.count(this as Waiter<undefined>, cost);
    } else this.#ask({ value, permits, asked: this.#line.now(), entry: undefined, state: 'waits' }, cost);
  }

  protected override _complete(): void {
    this.unsubscribe();
    this.#completed = true;
    this.#completeWhenDone();
  }

  granted(grant: Grant, item: Item<T, P> | undefined): void {
    if (item?.state === 'dropped') {
      this.#line.giveBack(grant);
      return;
    }
    this.#waiting--;
    if (item) item.state = 'done';
    const value = item ? item.value : this.#values.shift();
    this.#dropGone();
    let output: R;
    try {
      output = item && this.#plan.project ? this.#project(item, grant) : (value as unknown as R);
    } catch (error) {
      this.#line.giveBack(grant);
      this.#output.error(error);
      return;
    }
    this.#output.next(output);
    this.#completeWhenDone();
  }

  late(retryAfter: number | undefined, item: Item<T, P> | undefined): void {
    if (item?.state === 'dropped' || this.#output.closed) return;
    this.#waiting--;
    item!.state = 'done';
    this.#dropGone();
    const { strategy, onTimeout, timeout } = this.#plan;
    const permits = item!.permits as AskedPermits;
    if (strategy === 'error')
      this.#output.error(new RateLimitExceededError(this.#line.name, permits, retryAfter));
    else if (strategy === 'wait' && onTimeout === 'error')
      this.#output.error(new AcquireTimeoutError(this.#line.name, permits, timeout, retryAfter));
    else this.#completeWhenDone();
  }

  refused(error: Error): void {
    if (!this.#output.closed) this.#output.error(error);
  }

  #ask(item: Item<T, P>, cost: Cost): void {
    const { overflow, maxQueue, timeout } = this.#plan;
    let oldest: Item<T, P> | undefined;
    if (overflow === 'dropOldest') {
      if (this.#waiting >= maxQueue) {
        oldest = this.#items.shift();
        oldest.state = 'dropped';
        this.#waiting--;
        this.#dropGone();
      }
      this.#items.push(item);
    }
    this.#waiting++;
    item.entry = this.#line.ask(this, cost, timeout, item, oldest?.entry);
    // A value that came meanwhile may have dropped it.
    if ((item.state as string) === 'dropped') this.#line.cancel(item.entry);
  }

  #project({ value, permits, asked }: Item<T, P>, grant: Grant): R {
    return this.#plan.project!(value, this.#line.permitOf(grant, permits, asked));
  }

  #permitsOf(value: T, index: number): P {
    const { permits } = this.#plan;
    return typeof permits === 'function'
      ? (permits as (value: T, index: number) => P)(value, index)
      : permits;
  }

  #costOf(permits: P): Cost {
    if (typeof this.#plan.permits === 'function') return this.#line.costOf(permits);
    this.#cost ??= this.#line.costOf(permits);
    return this.#cost;
  }

  #dropGone(): void {
    while (this.#items.length > 0 && this.#items.peek().state === 'done') this.#items.shift();
  }

  #completeWhenDone(): void {
    if (this.#completed && this.#waiting === 0) this.#output.complete();
  }

  #stop(): void {
    if (this.#waiting > 0) this.#line.abandon(this);
    this.#values.clear();
    this.#items.clear();
  }
}
