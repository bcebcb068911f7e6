import { hasMethods } from '../validate.ts';

/** The part of Node's `Readable` that is used; its async iterator has the type of the values. */
interface NodeStream<T> extends AsyncIterable<T> {
  on(event: 'error' | 'close', listener: (error: unknown) => void): unknown;
  off(event: 'error' | 'close', listener: (error: unknown) => void): unknown;
  read(): unknown;
  destroy(): unknown;
}

/** Whether an input is a Node stream, judged by its methods: browsers cannot import Node's classes. */
export function isNodeStream<T>(input: unknown): input is NodeStream<T> {
  return hasMethods(input, ['on', 'off', 'read', 'destroy', Symbol.asyncIterator]);
}

/**
 * Reads a Node stream. `failed` receives its errors until it is closed: the async iterator listens only during a read, and
 * an `error` event without a listener ends the process.
 */
export function iteratorOfNodeStream<T>(
  stream: NodeStream<T>,
  failed: (error: unknown) => void,
): Pick<AsyncIterator<T, unknown>, 'next' | 'return'> {
  const iterator = stream[Symbol.asyncIterator]();
  const removeListeners = () => {
    stream.off('error', failed);
    stream.off('close', removeListeners);
  };
  stream.on('error', failed);
  stream.on('close', removeListeners);
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
