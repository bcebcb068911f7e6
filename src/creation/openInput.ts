import { throwError } from 'rxjs';
import { invalid } from '../validate.ts';
import { type InputIterator, iteratorOf, type PulledInput } from './input.ts';

/** Receives the values of an input, as an RxJS observer does. */
export interface Puller<T> {
  next(value: T): void;
  complete(): void;
  error(error: unknown): void;
}

/** The input of one subscription: pulls one value at a time, and closes the input unless it has ended. */
export class OpenInput<T> {
  readonly #puller: Puller<T>;
  #input: InputIterator<T> | undefined;
  /** Whether a value has been requested that has not arrived. */
  isPulling = false;
  /** Whether the input's own `next` is running, during which the input cannot be closed. */
  #isInNext = false;
  #isClosed = false;

  /** Opens the input: nothing is pulled yet, but a stream is locked. */
  constructor(input: PulledInput<T>, puller: Puller<T>) {
    this.#puller = puller;
    this.#input = iteratorOf(input, this.#streamFailed);
  }

  /** Requests the next value; an iterable answers before this returns. */
  next(): void {
    const { sync, iterator } = this.#input!;
    let result: unknown;
    this.isPulling = true;
    this.#isInNext = true;
    try {
      result = iterator.next();
    } catch (error) {
      this.#failed(error);
      return;
    } finally {
      this.#isInNext = false;
    }
    if (sync) this.#pulled(result as IteratorResult<T>);
    else {
      // Like `for await`, this accepts results that are not promises.
      Promise.resolve(result as Promise<IteratorResult<T>>).then(this.#pulled, this.#failed);
      if (this.#isClosed) this.close();
    }
  }

  /** Closes the input, once. An error is reported as unhandled, since the subscription has ended. */
  close(): void {
    this.#isClosed = true;
    if (!this.#input || this.#isInNext) return;
    const { sync, iterator } = this.#input;
    this.#input = undefined;
    try {
      const closing = iterator.return?.();
      if (!sync) Promise.resolve(closing).catch(reportUnhandled);
    } catch (error) {
      reportUnhandled(error);
    }
  }

  /** An error outside a read. During a read the result of the read decides: a value may still arrive. */
  readonly #streamFailed = (error: unknown): void => {
    if (this.isPulling || this.#isClosed) return;
    this.close();
    this.#puller.error(error);
  };

  readonly #pulled = (result: IteratorResult<T>): void => {
    this.isPulling = false;
    let done: boolean | undefined;
    let value: T | undefined;
    try {
      if (Object(result) !== result) throw invalid('input', 'next() to return an object', result);
      done = result.done;
      if (!done) value = result.value;
    } catch (error) {
      this.#failed(error);
      return;
    }
    if (done) {
      this.#input = undefined;
      if (!this.#isClosed) this.#puller.complete();
    } else if (this.#isClosed) this.close();
    else this.#puller.next(value as T);
  };

  readonly #failed = (error: unknown): void => {
    this.#input = undefined;
    if (!this.#isClosed) this.#puller.error(error);
  };
}

function reportUnhandled(error: unknown): void {
  throwError(() => error).subscribe();
}
