import { hasMethods } from '../validate.ts';

/** The part of Node's `Readable` that is used; its async iterator has the type of the values. */
interface NodeStream<T> extends AsyncIterable<T> {
  on(event: 'error' | 'close', listener: (error: unknown) => void): unknown;
  off(event: 'error' | 'close', listener: (error: unknown) => void): unknown;
  read(): unknown;
  destroy(): unknown;
  closed?: boolean;
}

/** Whether an input is a Node stream, judged by its methods: browsers cannot import Node's classes. */
export function isNodeStream<T>(input: unknown): input is NodeStream<T> {
  return hasMethods(input, ['on', 'off', 'read', 'destroy', Symbol.asyncIterator]);
}

/** What ends listening for errors of a stream without a subscription. It returns those that came. */
const early = new WeakMap<object, () => unknown[]>();

/** Keeps the error of an input for its first subscription: an `error` event without a listener ends the process. */
export function keepErrors(input: unknown): void {
  if (!isNodeStream(input) || early.has(input)) return;
  const errors: unknown[] = [];
  const stop = listen(input, (error) => errors.push(error));
  early.set(input, () => {
    stop();
    return errors;
  });
}

/** Listens for errors until the stream is closed. */
function listen(stream: NodeStream<unknown>, failed: (error: unknown) => void): () => void {
  const stop = () => {
    stream.off('error', failed);
    stream.off('close', stop);
  };
  if (!stream.closed) {
    stream.on('error', failed);
    stream.on('close', stop);
  }
  return stop;
}

/**
 * Reads a Node stream. `failed` receives its errors until it is closed: the async iterator listens only during a read. An earlier
 * error is passed on at once.
 */
export function iteratorOfNodeStream<T>(
  stream: NodeStream<T>,
  failed: (error: unknown) => void,
): Pick<AsyncIterator<T, unknown>, 'next' | 'return'> {
  const iterator = stream[Symbol.asyncIterator]();
  listen(stream, failed);
  const stop = early.get(stream);
  // Before its errors are passed on, as the subscriber may subscribe again at once.
  early.delete(stream);
  stop?.().forEach(failed);
  return {
    next: () => iterator.next(),
    async return() {
      // The iterator would not destroy the stream before the first read, nor during a read.
      stream.destroy();
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
}
