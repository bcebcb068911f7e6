import { isObservable } from 'rxjs';
import { show } from '../validate.ts';
import { isNodeStream, iteratorOfNodeStream } from './nodeStream.ts';

/** A WHATWG `ReadableStream`: this fits the types of Node and those of the DOM. */
export interface PulledStream<T> {
  getReader(): {
    read(): PromiseLike<{ done: boolean; value?: unknown }>;
    cancel(): PromiseLike<unknown>;
    releaseLock(): void;
  };
  /** It is not used, but tells the type of the values: that of the reader is overloaded, and would be inferred wrong. */
  pipeTo(destination: { getWriter(): { write(chunk?: T): unknown } }): unknown;
}

/** What can be pulled from, one value at a time. */
export type PulledInput<T> = Iterable<T> | AsyncIterable<T> | PulledStream<T>;

/** How an input is read. */
export type InputIterator<T> =
  | { sync: true; iterator: Iterator<T, unknown> }
  | { sync: false; iterator: Pick<AsyncIterator<T, unknown>, 'next' | 'return'> };

/** Refuses what cannot be pulled from, and says what to do with what looks as if it could. */
export function checkInput(input: unknown): void {
  if (['getReader', Symbol.asyncIterator, Symbol.iterator].some((name) => has(input, name))) return;
  throw new TypeError(
    `input: expected an iterable, an async iterable or a ReadableStream, got ${showInput(input)}`,
  );
}

/**
 * Begins to read an input; nothing is pulled yet. A stream is locked from now on. `failed` is called with an error that
 * comes without being asked for, as a Node stream's may.
 */
export function iteratorOf<T>(input: PulledInput<T>, failed: (error: unknown) => void): InputIterator<T> {
  // A stream is an async iterable in some places only, and where it is, its iterator would cancel it no sooner than a
  // read that is under way has ended.
  if (has(input, 'getReader')) return { sync: false, iterator: iteratorOfStream(input as PulledStream<T>) };
  if (isNodeStream<T>(input)) return { sync: false, iterator: iteratorOfNodeStream(input, failed) };
  if (has(input, Symbol.asyncIterator))
    return { sync: false, iterator: (input as AsyncIterable<T>)[Symbol.asyncIterator]() };
  return { sync: true, iterator: (input as Iterable<T>)[Symbol.iterator]() };
}

/** Reads a stream, and gives its lock back at its end, at its error, and when it is left. */
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
      // Not only when it is cancelled, which may take its time: a read that is under way has been answered by now.
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
  if (isObservable(input))
    return 'an Observable, which cannot be asked to wait: pipe it through throttleDistributed';
  if (has(input, 'then')) return 'a promise: await it, and give what it resolves to';
  if (typeof input === 'function') return 'a function: call it, and give what it returns';
  if (has(input, 'next')) return 'an iterator that is not iterable: give it a method [Symbol.iterator]';
  return show(input);
}
