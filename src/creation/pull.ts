import { type Subscriber, throwError } from 'rxjs';
import type { Line } from '../limiter/line.ts';
import type { Permit } from '../limiter/permit.ts';
import { Request } from '../limiter/request.ts';
import type { Cost } from '../stores/store.ts';
import { show } from '../validate.ts';
import { type OpenInput, openInput, type PulledInput } from './input.ts';

/** What each value costs, and how long it may wait for its permits. */
export interface PullPlan<P> {
  permits: P;
  timeout: number;
}

/**
 * One subscription of `fromThrottled`: it acquires, pulls one value, emits it, and begins anew.
 *
 * A line may answer before `ask` returns, and an iterable always does: so it goes round in a loop, and nothing recurses.
 */
export class Pull<T, P> {
  readonly #output: Subscriber<T>;
  readonly #line: Line<P>;
  readonly #plan: PullPlan<P>;
  #input: OpenInput<T> | undefined;
  #cost: Cost | undefined;
  #request: Request<P> | undefined;
  /** The permit of the value that is being pulled. */
  #permit: Permit<P> | undefined;
  /** Whether the last value has been emitted, and the next one not asked for. */
  #ready = true;
  #looping = false;
  /** Whether the input is in the middle of its own `next`, where it cannot be closed. */
  #inNext = false;

  constructor(output: Subscriber<T>, line: Line<P>, plan: PullPlan<P>) {
    this.#output = output;
    this.#line = line;
    this.#plan = plan;
    output.add(() => this.#stop());
  }

  start(input: PulledInput<T>): void {
    try {
      this.#input = openInput(input);
      this.#cost = this.#line.costOf(this.#plan.permits);
    } catch (error) {
      if (!this.#output.closed) this.#output.error(error);
    }
    // Opening it may have unsubscribed, or the subscriber have been gone before.
    if (this.#output.closed) this.#close();
    else this.#loop();
  }

  #loop(): void {
    if (this.#looping) return;
    this.#looping = true;
    while (this.#ready && !this.#output.closed) {
      this.#ready = false;
      this.#ask();
    }
    this.#looping = false;
  }

  #ask(): void {
    const { permits } = this.#plan;
    this.#request = new Request(this.#line, permits, this.#cost!, this.#plan, this.#granted, this.#refused);
    this.#request.ask();
  }

  readonly #refused = (error: unknown): void => this.#output.error(error);

  readonly #granted = (permit: Permit<P>): void => {
    this.#permit = permit;
    const { sync, iterator } = this.#input!;
    let answer: unknown;
    this.#inNext = true;
    try {
      answer = iterator.next();
    } catch (error) {
      this.#failed(error);
      return;
    } finally {
      this.#inNext = false;
    }
    if (sync) this.#pulled(answer as IteratorResult<T>);
    else {
      // `for await` too waits for whatever `next` returns, a promise or not.
      Promise.resolve(answer as Promise<IteratorResult<T>>).then(this.#pulled, this.#failed);
      if (this.#output.closed) this.#close();
    }
  };

  readonly #pulled = (result: IteratorResult<T>): void => {
    let done: boolean | undefined;
    let value: T | undefined;
    try {
      if (Object(result) !== result)
        throw new TypeError(`input: expected next() to give an object, got ${show(result)}`);
      done = result.done;
      if (!done) value = result.value;
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (done) this.#ended(() => this.#output.complete());
    else if (this.#output.closed) this.#close();
    else {
      this.#permit = undefined;
      this.#output.next(value as T);
      this.#ready = true;
      this.#loop();
    }
  };

  readonly #failed = (error: unknown): void => this.#ended(() => this.#output.error(error));

  /** The input has ended by itself, and need not be closed; the permit was for a value that there is not. */
  #ended(say: () => void): void {
    this.#input = undefined;
    this.#giveBack();
    if (!this.#output.closed) say();
  }

  #stop(): void {
    this.#request?.cancel();
    this.#giveBack();
    if (!this.#inNext) this.#close();
  }

  #giveBack(): void {
    void this.#permit?.refund();
    this.#permit = undefined;
  }

  /** Closes the input, once. That this fails can only be reported: those who would hear of it have left. */
  #close(): void {
    const input = this.#input;
    this.#input = undefined;
    try {
      const left = input?.iterator.return?.();
      if (!input?.sync) Promise.resolve(left).catch(report);
    } catch (error) {
      report(error);
    }
  }
}

/** Reports an error as RxJS reports those that nobody handles. */
function report(error: unknown): void {
  throwError(() => error).subscribe();
}
