import type { Subscriber } from 'rxjs';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Line, Waiter } from '../port/line.ts';
import { Ring } from '../ring.ts';
import type { ThrottlePlan } from './throttleOptions.ts';
import { ThrottleSubscriber } from './throttleSubscriber.ts';

/** A subscription whose values are all alike: they wait in a ring, and the line only counts their requests. */
export class CountingSubscriber<T, P> extends ThrottleSubscriber<T, T> implements Waiter<undefined> {
  readonly #permits: P;
  readonly #line: Line<P>;
  readonly #values = new Ring<T>();
  /** The cost of a value, from the first one on. */
  #cost: Cost | undefined;

  constructor(output: Subscriber<T>, { permits, lineOf }: ThrottlePlan<T, P, unknown>) {
    super(output);
    this.#permits = permits as P;
    this.#line = lineOf(undefined as T);
  }

  protected override _next(value: T): void {
    try {
      this.#cost ??= this.#line.costOf(this.#permits);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.waiting++;
    this.#values.push(value);
    this.#line.count(this, this.#cost);
  }

  granted(grant: Grant): void {
    // The event of this grant has ended the subscription.
    if (this.hasEnded) {
      this.#line.refund(grant);
      return;
    }
    this.waiting--;
    this.output.next(this.#values.shift());
    this.completeIfDone();
  }

  /** A request without a timeout is not denied. */
  denied(): void {}

  protected override cancel(): void {
    this.#line.cancelAll(this);
    this.#values.clear();
  }
}
