import { throwError } from 'rxjs';
import { show } from '../validate.ts';
import { type InputIterator, iteratorOf, type PulledInput } from './input.ts';

/** Who pulls, and hears of each answer. */
export interface Puller<T> {
  /** The value that was asked for. */
  came(value: T): void;
  /** There are no more. */
  ended(): void;
  /** There are no more, because the input has failed. */
  failed(error: unknown): void;
}

/** An input in the course of one subscription: it is asked for one value after the other, and closed unless it ends. */
export class OpenInput<T> {
  readonly #puller: Puller<T>;
  #input: InputIterator<T> | undefined;
  /** Whether a value was asked for that has not come yet. */
  #asked = false;
  /** Whether the input is in the middle of its own `next`, where it cannot be closed. */
  #inNext = false;
  /** Whether it is to be closed when it has answered. */
  #left = false;

  /** Nothing is pulled yet; but a stream is locked from now on. */
  constructor(input: PulledInput<T>, puller: Puller<T>) {
    this.#puller = puller;
    this.#input = iteratorOf(input, this.#broke);
  }

  /** Asks for the next value; an iterable answers before this returns. */
  next(): void {
    const { sync, iterator } = this.#input!;
    let answer: unknown;
    this.#asked = true;
    this.#inNext = true;
    try {
      answer = iterator.next();
    } catch (error) {
      this.#failed(error);
      return;
    } finally {
      this.#inNext = false;
    }
    if (sync) this.#answered(answer as IteratorResult<T>);
    else {
      // `for await` too waits for whatever `next` returns, a promise or not.
      Promise.resolve(answer as Promise<IteratorResult<T>>).then(this.#answered, this.#failed);
      if (this.#left) this.close();
    }
  }

  /** Closes it, once. That this fails can only be reported: those who would hear of it have left. */
  close(): void {
    this.#left = true;
    if (!this.#input || this.#inNext) return;
    const { sync, iterator } = this.#input;
    this.#input = undefined;
    try {
      const left = iterator.return?.();
      if (!sync) Promise.resolve(left).catch(report);
    } catch (error) {
      report(error);
    }
  }

  /** It has failed by itself. A value that was asked for may still come, and if not, the answer says why. */
  readonly #broke = (error: unknown): void => {
    if (this.#asked || this.#left) return;
    this.close();
    this.#puller.failed(error);
  };

  readonly #answered = (result: IteratorResult<T>): void => {
    this.#asked = false;
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
    if (done) {
      this.#input = undefined;
      if (!this.#left) this.#puller.ended();
    } else if (this.#left) this.close();
    else this.#puller.came(value as T);
  };

  readonly #failed = (error: unknown): void => {
    this.#input = undefined;
    if (!this.#left) this.#puller.failed(error);
  };
}

/** Reports an error as RxJS reports those that nobody handles. */
function report(error: unknown): void {
  throwError(() => error).subscribe();
}
