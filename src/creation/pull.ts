import type { Subscriber } from 'rxjs';
import type { Line } from '../limiter/line.ts';
import type { Permit } from '../limiter/permit.ts';
import type { PulledInput } from './input.ts';
import { OpenInput, type Puller } from './openInput.ts';
import { type Arrival, type PermitPlan, PermitsAhead } from './permitsAhead.ts';

/** What each value costs, how long it may wait for its permits, and what is emitted for it. */
export interface PullPlan<T, P, R> extends PermitPlan<P> {
  project: ((value: T, permit: Permit<P>) => R) | undefined;
}

/**
 * One subscription of `fromThrottled`: it takes a permit, pulls one value, emits it, and begins anew.
 *
 * A line may answer before `ask` returns, and an iterable always does: so it goes round in a loop, and nothing recurses.
 */
export class Pull<T, P, R> implements Puller<T> {
  readonly #output: Subscriber<T | R>;
  readonly #line: Line<P>;
  readonly #plan: PullPlan<T, P, R>;
  #input: OpenInput<T> | undefined;
  #permits: PermitsAhead<P> | undefined;
  /** The permit of the value that is being pulled. */
  #held: Arrival<P> | undefined;
  #looping = false;
  /** Will look whether a value has come at once. */
  #look: NodeJS.Immediate | undefined;
  #late = false;

  constructor(output: Subscriber<T | R>, line: Line<P>, plan: PullPlan<T, P, R>) {
    this.#output = output;
    this.#line = line;
    this.#plan = plan;
    output.add(() => this.#stop());
  }

  start(input: PulledInput<T>): void {
    try {
      this.#input = new OpenInput(input, this);
      this.#permits = new PermitsAhead(this.#line, this.#plan, this.#goOn, this.#fail);
    } catch (error) {
      this.#fail(error);
    }
    // Opening it may have unsubscribed, or the subscriber have been gone before.
    if (this.#output.closed) this.#input?.close();
    else this.#goOn();
  }

  came(value: T): void {
    this.#emit(value, this.#held!);
    this.#goOn();
  }

  ended(): void {
    // For whoever hears of the end, what was asked for in vain is there again.
    this.#giveBack();
    this.#output.complete();
  }

  failed(error: unknown): void {
    this.#giveBack();
    this.#output.error(error);
  }

  readonly #goOn = (): void => {
    if (this.#looping) return;
    this.#looping = true;
    while (!this.#output.closed && !this.#held) {
      while (!this.#output.closed && this.#permits!.ask());
      this.#held = this.#permits!.take();
      if (!this.#held) break;
      this.#input!.next();
      if (this.#held?.permit.source === 'redis') this.#look ??= globalThis.setImmediate(this.#isLate);
    }
    this.#looping = false;
  };

  /** By now a value has come that waits for nothing but promises: the others asked ahead are of no use yet. */
  readonly #isLate = (): void => {
    this.#look = undefined;
    if (!this.#held) return;
    this.#late = true;
    this.#permits!.leave();
  };

  #emit(value: T, held: Arrival<P>): void {
    const { project } = this.#plan;
    let output: T | R;
    try {
      output = project ? project(value, held.permit) : value;
    } catch (error) {
      this.#fail(error);
      return;
    }
    // The function may have unsubscribed.
    if (this.#output.closed) return;
    this.#held = undefined;
    if (!this.#late) this.#permits!.used(held);
    this.#late = false;
    this.#output.next(output);
  }

  readonly #fail = (error: unknown): void => {
    if (!this.#output.closed) this.#output.error(error);
  };

  #stop(): void {
    if (this.#look) globalThis.clearImmediate(this.#look);
    this.#giveBack();
    this.#input?.close();
  }

  #giveBack(): void {
    void this.#held?.permit.refund();
    this.#held = undefined;
    this.#permits?.leave();
  }
}
