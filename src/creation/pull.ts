import type { Subscriber } from 'rxjs';
import type { Line } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import type { PulledInput } from './input.ts';
import { OpenInput, type Puller } from './openInput.ts';
import { type PermitPlan, Prefetch } from './prefetch.ts';

/** The checked options of `fromThrottled`. */
interface PullPlan<T, P, R> extends PermitPlan<P> {
  project: ((value: T, permit: Permit<P>) => R) | undefined;
}

/**
 * One subscription of `fromThrottled`: acquires a permit, pulls one value, emits it, and repeats. If the permit has expired
 * when the value arrives, the value waits for another permit.
 *
 * A line may grant before `request` returns, and an iterable always answers at once: a loop avoids recursion.
 */
export class Pull<T, P, R> implements Puller<T> {
  readonly #output: Subscriber<T | R>;
  readonly #line: Line<P>;
  readonly #plan: PullPlan<T, P, R>;
  #input: OpenInput<T> | undefined;
  #permits: Prefetch<P> | undefined;
  /** The value that has arrived and has not been emitted. */
  #pulled: { value: T } | undefined;
  /** The error of the input that is passed on after that value. */
  #inputError: { error: unknown } | undefined;
  #isLooping = false;
  #slowCheck: NodeJS.Immediate | undefined;

  constructor(output: Subscriber<T | R>, line: Line<P>, plan: PullPlan<T, P, R>) {
    this.#output = output;
    this.#line = line;
    this.#plan = plan;
    output.add(() => this.#stop());
  }

  start(input: PulledInput<T>): void {
    try {
      this.#input = new OpenInput(input, this);
      this.#permits = new Prefetch(this.#line, this.#plan, this.#run, this.#fail);
    } catch (error) {
      this.#fail(error);
    }
    // The subscriber may have unsubscribed before, or while the input was opened.
    if (this.#output.closed) this.#input?.close();
    else this.#run();
  }

  next(value: T): void {
    this.#pulled = { value };
    this.#run();
  }

  complete(): void {
    // Unused permits are refunded before the subscriber is notified, so that it finds them available.
    this.#permits!.close();
    this.#output.complete();
  }

  error(error: unknown): void {
    if (this.#pulled) {
      this.#inputError = { error };
      return;
    }
    this.#permits?.close();
    this.#output.error(error);
  }

  readonly #run = (): void => {
    if (this.#isLooping) return;
    this.#isLooping = true;
    const permits = this.#permits!;
    while (!this.#output.closed && !this.#input!.isPulling) {
      permits.dropExpired();
      while (!this.#output.closed && permits.request());
      const permit = permits.first;
      if (!permit) break;
      if (this.#pulled) this.#emit(this.#pulled.value, permit);
      else this.#pull(permit);
    }
    this.#isLooping = false;
    if (this.#input!.isPulling && !this.#output.closed) permits.startTimer();
    else permits.stopTimer();
  };

  #pull({ source }: Permit<P>): void {
    this.#input!.next();
    if (this.#input!.isPulling && !this.#output.closed && source === 'redis')
      this.#slowCheck ??= globalThis.setImmediate(this.#checkIsSlow);
  }

  /** Runs after all promises of this turn. If the value has not arrived by then, the input is slow, and needs no prefetching. */
  readonly #checkIsSlow = (): void => {
    this.#slowCheck = undefined;
    if (this.#input!.isPulling) this.#permits!.keepFirst();
  };

  #emit(value: T, permit: Permit<P>): void {
    const { project } = this.#plan;
    this.#pulled = undefined;
    let output: T | R;
    try {
      output = project ? project(value, permit) : value;
    } catch (error) {
      this.#fail(error);
      return;
    }
    // The function may have unsubscribed.
    if (this.#output.closed) return;
    this.#permits!.use();
    this.#output.next(output);
    if (this.#inputError && !this.#output.closed) this.error(this.#inputError.error);
  }

  readonly #fail = (error: unknown): void => {
    if (!this.#output.closed) this.#output.error(error);
  };

  #stop(): void {
    if (this.#slowCheck) globalThis.clearImmediate(this.#slowCheck);
    this.#permits?.close();
    this.#input?.close();
  }
}
