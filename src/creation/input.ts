import { isObservable } from 'rxjs';
import { show } from '../validate.ts';
import { isNodeStream, iteratorOfNodeStream } from './nodeStream.ts';

/** A WHATWG `ReadableStream`: this type accepts those of Node and of the DOM. */
export interface PulledStream<T> {
  getReader(): {
    read(): PromiseLike<{ done: boolean; value?: unknown }>;
    cancel(): PromiseLike<unknown>;
    releaseLock(): void;
  };
  /** Never called. TypeScript infers the type of the values from it, since the reader's is overloaded. */
  pipeTo(destination: { getWriter(): { write(chunk?: T): unknown } }): unknown;
}

/** An input from which values can be pulled one at a time. */
export type PulledInput<T> = Iterable<T> | AsyncIterable<T> | PulledStream<T>;

/** The iterator of an input; a sync one answers before `next` returns. */
export type InputIterator<T> =
  | { sync: true; iterator: Iterator<T, unknown> }
  | { sync: false; iterator: Pick<AsyncIterator<T, unknown>, 'next' | 'return'> };

/** Throws for anything but an input; the message says how to convert observables, promises, functions and iterators. */
export function checkInput(input: unknown): void {
  if (['getReader', Symbol.asyncIterator, Symbol.iterator].some((name) => has(input, name))) return;
  throw new TypeError(
    `input: expected an iterable, an async iterable or a ReadableStream, got ${showInput(input)}`,
  );
}

/** Opens an input: nothing is pulled yet, but a stream is locked. `failed` receives errors that a Node stream emits. */
export function iteratorOf<T>(input: PulledInput<T>, failed: (error: unknown) => void): InputIterator<T> {
  // Not every platform makes streams async iterable, and their iterators delay a cancellation until the current read ends.
  if (has(input, 'getReader')) return { sync: false, iterator: iteratorOfStream(input as PulledStream<T>) };
  if (isNodeStream<T>(input)) return { sync: false, iterator: iteratorOfNodeStream(input, failed) };
  if (has(input, Symbol.asyncIterator))
    return { sync: false, iterator: (input as AsyncIterable<T>)[Symbol.asyncIterator]() };
  return { sync: true, iterator: (input as Iterable<T>)[Symbol.iterator]() };
}

/** Reads a stream. Releases its lock when it ends, fails or is cancelled. */
function iteratorOfStream<T>(stream: PulledStream<T>) {
  const reader = stream.getReader();
  return {
    async next(): Promise<IteratorResult<T, unknown>> {
      let ended = true;
      try {
        const result = await reader.read();
        ended = result.done;
        return result as IteratorResult<T, unknown>;
      } finally {
        if (ended) reader.releaseLock();
      }
    },
    async return(): Promise<IteratorResult<T, unknown>> {
      const cancelled = reader.cancel();
      // The lock is released before the cancellation ends, which may take long; `cancel` has already settled a pending read.
      reader.releaseLock();
      await cancelled;
      return { done: true, value: undefined };
    },
  };
}

function has(input: unknown, method: PropertyKey): boolean {
  return typeof (input as Record<PropertyKey, unknown> | null | undefined)?.[method] === 'function';
}

function showInput(input: unknown): string {
  if (isObservable(input)) return 'an Observable: pipe it through throttleDistributed';
  if (has(input, 'then')) return 'a promise: await it, and give what it resolves to';
  if (typeof input === 'function') return 'a function: call it, and give what it returns';
  if (has(input, 'next')) return 'an iterator that is not iterable: give it a method [Symbol.iterator]';
  return show(input);
}
