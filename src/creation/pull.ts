import type { Subscriber } from 'rxjs';
import type { Line } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { HeldPermit } from './heldPermit.ts';
import type { PulledInput } from './input.ts';
import { OpenInput, type Puller } from './openInput.ts';
import { type Arrival, type PermitPlan, Prefetch } from './prefetch.ts';

/** What each value costs, how long it may wait for its permits and they for it, and what is emitted for it. */
export interface PullPlan<T, P, R> extends PermitPlan<P> {
  project: ((value: T, permit: Permit<P>) => R) | undefined;
}

/**
 * One subscription of `fromThrottled`: it takes a permit, pulls one value, emits it, and begins anew. Where the permit has
 * become too old by then, the value waits for another.
 *
 * A line may answer before `ask` returns, and an iterable always does: so it goes round in a loop, and nothing recurses.
 */
export class Pull<T, P, R> implements Puller<T> {
  readonly #output: Subscriber<T | R>;
  readonly #line: Line<P>;
  readonly #plan: PullPlan<T, P, R>;
  #input: OpenInput<T> | undefined;
  #permits: Prefetch<P> | undefined;
  #held: HeldPermit<P> | undefined;
  /** Whether the input has been asked for a value that has not come. */
  #pulling = false;
  /** The value that waits for a permit younger than the one that it was pulled with. */
  #waiting: { value: T } | undefined;
  /** What the input has failed with while that value waits. */
  #failure: { error: unknown } | undefined;
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
      this.#permits = new Prefetch(this.#line, this.#plan, this.#goOn, this.#fail);
      this.#held = new HeldPermit(this.#line, this.#permits, this.#comesLate);
    } catch (error) {
      this.#fail(error);
    }
    // Opening it may have unsubscribed, or the subscriber have been gone before.
    if (this.#output.closed) this.#input?.close();
    else this.#goOn();
  }

  came(value: T): void {
    this.#pulling = false;
    const held = this.#held!.current;
    if (held) this.#emit(value, held);
    else this.#waiting = { value };
    this.#goOn();
  }

  ended(): void {
    // For whoever hears of the end, what was asked for in vain is there again.
    this.#giveBack();
    this.#output.complete();
  }

  failed(error: unknown): void {
    if (this.#waiting) {
      this.#failure = { error };
      return;
    }
    this.#giveBack();
    this.#output.error(error);
  }

  readonly #goOn = (): void => {
    if (this.#looping) return;
    this.#looping = true;
    while (!this.#output.closed && !this.#pulling) {
      this.#permits!.dropOld();
      while (!this.#output.closed && this.#permits!.ask());
      const arrival = this.#permits!.take();
      if (!arrival) break;
      this.#held!.hold(arrival);
      if (this.#waiting) this.#emitWaiting(this.#waiting.value, arrival);
      else this.#pull(arrival);
    }
    this.#looping = false;
    if (this.#pulling && !this.#output.closed) this.#held!.watch();
    else this.#held!.rest();
  };

  #pull({ permit }: Arrival<P>): void {
    this.#pulling = true;
    this.#input!.next();
    if (this.#pulling && !this.#output.closed && permit.source === 'redis')
      this.#look ??= globalThis.setImmediate(this.#isLate);
  }

  /** By now a value has come that waits for nothing but promises: the others asked ahead are of no use yet. */
  readonly #isLate = (): void => {
    this.#look = undefined;
    if (!this.#pulling) return;
    this.#comesLate();
    this.#permits!.leave();
  };

  readonly #comesLate = (): void => {
    this.#late = true;
  };

  #emitWaiting(value: T, held: Arrival<P>): void {
    this.#waiting = undefined;
    this.#emit(value, held);
    if (this.#failure && !this.#output.closed) this.failed(this.#failure.error);
  }

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
    this.#held!.use();
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
    this.#held?.giveBack();
    this.#permits?.leave();
  }
}
