import { AcquireTimeoutError, type AskedPermits, QueueOverflowError } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Line, Waiter } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { Ring } from '../ring.ts';
import { PrefetchSize } from './prefetchSize.ts';

/** Milliseconds that a permit may wait for its value at least, where nobody says how long. */
const leastAge = 50;
/** The part of the shortest interval that it may wait for then. */
const agePart = 1 / 10;
/** Milliseconds that any permit may wait: less would be none for the best of clocks. */
const tick = 1;

/** What each value costs, and how long it may wait for its permits, and they for it. */
export interface PermitPlan<P> {
  permits: P;
  timeout: number;
  /** Undefined: as long as the limits in force suggest. */
  maxAge: number | undefined;
}

/** A request in the line. */
interface Asked {
  /** When, by the line's clock. */
  at: number;
  /** Where it then stood among ours: the first is 1. */
  place: number;
}

/** A permit that has come. */
export interface Arrival<P> {
  permit: Permit<P>;
  asked: Asked;
  /** Since when it waits, by the line's clock. */
  at: number;
}

/** The permits of one subscription of `fromThrottled`: those that it has asked for, and those that have come. */
export class Prefetch<P> implements Waiter<undefined> {
  readonly cancelsAll = true;
  readonly prefetches = true;
  readonly #line: Line<P>;
  readonly #plan: PermitPlan<P>;
  readonly #cost: Cost;
  readonly #came: () => void;
  readonly #failed: (error: unknown) => void;
  readonly #ahead = new PrefetchSize();
  readonly #asked = new Ring<Asked>();
  readonly #there = new Ring<Arrival<P>>();

  /**
   * `came` is called with every permit that comes, `failed` with an error after which none will; both perhaps before
   * `ask` returns.
   *
   * @throws PermitsExceedLimitError
   */
  constructor(line: Line<P>, plan: PermitPlan<P>, came: () => void, failed: (error: unknown) => void) {
    this.#line = line;
    this.#plan = plan;
    this.#cost = line.costOf(plan.permits);
    this.#came = came;
    this.#failed = failed;
  }

  /** Asks for one more, if there are fewer than are asked ahead, and says whether it did. */
  ask(): boolean {
    if (this.#count >= this.#ahead.count) return false;
    const { timeout } = this.#plan;
    this.#asked.push({ at: this.#line.now(), place: this.#count + 1 });
    if (timeout === Infinity) this.#line.count(this, this.#cost);
    else this.#line.ask(this, this.#cost, timeout, undefined);
    return true;
  }

  /** Milliseconds that one that has come may still wait for its value. */
  ageLeft({ at }: Arrival<P>): number {
    return Math.max(tick, this.#maxAge) - (this.#line.now() - at);
  }

  /** Whether one that has come has waited for its value for too long. */
  isOld({ at }: Arrival<P>): boolean {
    const age = this.#line.now() - at;
    return age > tick && age > this.#maxAge;
  }

  /** Gives back what has come, was not taken, and is too old by now. */
  dropOld(): void {
    while (this.#there.length > 0 && this.isOld(this.#there.peek())) this.giveUp(this.#there.shift());
  }

  /** Gives one back whose value has not come in its time: it is one at a time again. */
  giveUp({ permit }: Arrival<P>): void {
    this.#ahead.restart();
    void permit.refund();
  }

  /** Takes the first that has come. */
  take(): Arrival<P> | undefined {
    return this.#there.length > 0 ? this.#there.shift() : undefined;
  }

  /** One that was taken has been used, and its value came at once. */
  used({ permit, asked }: Arrival<P>): void {
    // A time-out is of the wait for one value's permits: not of the wait behind others of our own.
    if (permit.source === 'redis' && this.#plan.timeout === Infinity)
      this.#ahead.used(this.#line.now() - asked.at, asked.place, this.#maxAge);
    else this.leave();
  }

  /** Gives back all that has come and was not taken, leaves the line, and begins anew with one at a time. */
  leave(): void {
    this.#ahead.restart();
    if (this.#asked.length > 0) {
      this.#asked.clear();
      this.#line.cancelAll(this);
    }
    while (this.#there.length > 0) void this.#there.shift().permit.refund();
  }

  granted(grant: Grant): void {
    const asked = this.#asked.shift();
    const permit = this.#line.permitOf(grant, this.#plan.permits, asked.at);
    // That one without others of ours before it comes late in a busy process is no matter of the values.
    const { due = this.#line.now() } = asked.place > 1 ? grant : {};
    this.#there.push({ permit, asked, at: due });
    this.#came();
  }

  denied(retryAfter: number | undefined): void {
    const { permits, timeout } = this.#plan;
    this.#failed(new AcquireTimeoutError(this.#line.name, permits as AskedPermits, timeout, retryAfter));
  }

  failed(error: Error): void {
    const { place } = this.#asked.pop();
    if (!(error instanceof QueueOverflowError) || place === 1) {
      this.#failed(error);
      return;
    }
    // It was asked ahead: nothing is missed, unless those before it have been used by now.
    this.#ahead.overflowed(this.#count);
    if (this.#count === 0) this.#came();
  }

  /** Milliseconds that a permit may wait for its value. */
  get #maxAge(): number {
    const { maxAge = Math.max(leastAge, this.#line.shortestInterval * agePart) } = this.#plan;
    return maxAge;
  }

  /** How many have been asked for and not been taken. */
  get #count(): number {
    return this.#asked.length + this.#there.length;
  }
}
