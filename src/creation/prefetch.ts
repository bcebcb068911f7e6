import type { CancelTimer } from '../clock.ts';
import { QueueOverflowError } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Line, Waiter } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { Ring } from '../ring.ts';
import { PrefetchSize } from './prefetchSize.ts';

/** The least default of `maxAge`: milliseconds. */
const leastAge = 50;
/** The default of `maxAge`, as a part of the shortest interval. */
const agePart = 1 / 10;
/** The least `maxAge` in effect: no timer is more exact than a millisecond. */
const tick = 1;

/** The options of a subscription that concern its permits. */
export interface PermitPlan<P> {
  permits: P;
  timeout: number;
  /** The longest time between a grant and its value; undefined for the default. */
  maxAge: number | undefined;
}

/** A request for the permit of one value, and that permit once it is granted. Times are those of the line's clock. */
interface PrefetchedPermit<P> {
  readonly requestedAt: number;
  /** The position among the permits of this subscription, counted from 1, when the request was made. */
  readonly position: number;
  permit: Permit<P> | undefined;
  grantedAt: number;
}

/**
 * The permits of one subscription of `fromThrottled`: requested ahead of the values, and refunded when they expire unused.
 *
 * The first granted permit belongs to the value that is being pulled, if there is one.
 */
export class Prefetch<P> implements Waiter<PrefetchedPermit<P>> {
  readonly cancelsAll = true;
  readonly prefetches = true;
  readonly #line: Line<P>;
  readonly #plan: PermitPlan<P>;
  readonly #cost: Cost;
  readonly #onPermit: () => void;
  readonly #onError: (error: unknown) => void;
  readonly #size = new PrefetchSize();
  /** Number of permits that are requested and not granted. */
  #requested = 0;
  readonly #granted = new Ring<PrefetchedPermit<P>>();
  /** Whether the current value has kept its permit waiting: its wait does not measure the rate of the permits. */
  #isSlow = false;
  #cancelTimer: CancelTimer | undefined;
  #isClosed = false;

  /**
   * `onPermit` is called after each grant, and `onError` with an error after which there are no more grants. Both may be
   * called before `request` returns.
   *
   * @throws PermitsExceedLimitError
   */
  constructor(line: Line<P>, plan: PermitPlan<P>, onPermit: () => void, onError: (error: unknown) => void) {
    this.#line = line;
    this.#plan = plan;
    this.#cost = line.costOf(plan.permits);
    this.#onPermit = onPermit;
    this.#onError = onError;
  }

  /** Requests one more permit unless enough are on hand. Returns whether it did. */
  request(): boolean {
    if (this.#count >= this.#size.count) return false;
    const { timeout } = this.#plan;
    this.#requested++;
    const requestedAt = this.#line.now();
    const request = { requestedAt, position: this.#count, permit: undefined, grantedAt: 0 };
    if (timeout === Infinity) this.#line.count(this, this.#cost, request);
    else this.#line.ask(this, this.#cost, timeout, request);
    return true;
  }

  /** The first granted permit, if there is one. */
  get first(): Permit<P> | undefined {
    return this.#granted.length > 0 ? this.#granted.peek().permit : undefined;
  }

  /** Refunds granted permits that have waited for their values for longer than `maxAge`. */
  dropExpired(): void {
    while (this.#granted.length > 0) {
      const { permit, grantedAt } = this.#granted.peek();
      const age = this.#line.now() - grantedAt;
      // The first comparison is quick: most permits are used at once.
      if (age <= tick || age <= this.#maxAge) return;
      this.#granted.shift();
      this.#size.restart();
      this.#isSlow = true;
      void permit!.refund();
    }
  }

  /** Removes the first permit, since its value is emitted. */
  use(): void {
    const { permit, requestedAt, position } = this.#granted.shift();
    // A timeout bounds the wait of one value's request, not its wait behind other requests of this subscription.
    const prefetches = permit!.source === 'redis' && this.#plan.timeout === Infinity;
    if (!prefetches) this.#keep(0);
    else if (!this.#isSlow) this.#size.used(this.#line.now() - requestedAt, position, this.#maxAge);
    this.#isSlow = false;
  }

  /** The input is slow: refunds and cancels all permits but the first one. */
  keepFirst(): void {
    this.#isSlow = true;
    this.#keep(1);
  }

  /** Refunds and cancels all permits, and leaves no timer. */
  close(): void {
    this.#isClosed = true;
    this.#keep(0);
    this.stopTimer();
  }

  /**
   * Starts a timer that refunds the first permit when it expires.
   *
   * One timer serves all permits: it is not restarted for each of them, but looks for the first one when it fires.
   */
  startTimer(): void {
    if (this.#granted.length === 0 || this.#cancelTimer) return;
    const age = this.#line.now() - this.#granted.peek().grantedAt;
    const left = this.#maxAge - age;
    // A permit has expired once it is older than `maxAge`.
    if (left < Infinity) this.#cancelTimer = this.#line.after(left + 1, this.#onTimer);
  }

  stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  readonly #onTimer = (): void => {
    this.#cancelTimer = undefined;
    this.dropExpired();
    this.startTimer();
  };

  granted(grant: Grant, request: PrefetchedPermit<P>): void {
    // The event of this grant has ended the subscription.
    if (this.#isClosed) {
      this.#line.refund(grant);
      return;
    }
    this.#requested--;
    request.permit = this.#line.permitOf(grant, this.#plan.permits, request.requestedAt);
    // A permit behind others of this subscription ages from the time when it was due. The first one ages from now, so that a
    // busy event loop does not make it older.
    const { due = this.#line.now() } = request.position > 1 ? grant : {};
    request.grantedAt = due;
    this.#granted.push(request);
    this.#onPermit();
  }

  denied(retryAfter: number | undefined): void {
    const { permits, timeout } = this.#plan;
    this.#onError(this.#line.timeoutError(permits, timeout, retryAfter));
  }

  failed(error: Error, { position }: PrefetchedPermit<P>): void {
    this.#requested--;
    if (!(error instanceof QueueOverflowError) || position === 1) {
      this.#onError(error);
      return;
    }
    // The permit was not needed yet. If the permits before it are used up by now, the next one is requested.
    this.#size.overflowed(this.#count);
    if (this.#count === 0) this.#onPermit();
  }

  /** Refunds and cancels all permits but the first `count` granted ones, and goes back to one permit at a time. */
  #keep(count: number): void {
    this.#size.restart();
    if (this.#requested > 0) {
      this.#requested = 0;
      this.#line.cancelAll(this);
    }
    const surplus: PrefetchedPermit<P>[] = [];
    while (this.#granted.length > 0) surplus.push(this.#granted.shift());
    for (const kept of surplus.splice(0, count)) this.#granted.push(kept);
    // The newest first.
    for (const { permit } of surplus.reverse()) void permit!.refund();
  }

  /** Milliseconds that a granted permit may wait for its value. */
  get #maxAge(): number {
    const { maxAge = Math.max(leastAge, this.#line.shortestInterval * agePart) } = this.#plan;
    return Math.max(tick, maxAge);
  }

  /** Permits that are requested or granted, and not used. */
  get #count(): number {
    return this.#requested + this.#granted.length;
  }
}
