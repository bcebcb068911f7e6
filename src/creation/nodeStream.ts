/** What is used of a `Readable` of Node: the type of its values is that of its async iterator. */
export interface NodeStream<T> extends AsyncIterable<T> {
  on(event: 'error' | 'close', listener: (error: unknown) => void): unknown;
  off(event: 'error' | 'close', listener: (error: unknown) => void): unknown;
  read(): unknown;
  destroy(): unknown;
}

/** Whether an input is a Node stream: by its shape, as nothing of Node may be imported where browsers load this. */
export function isNodeStream<T>(input: unknown): input is NodeStream<T> {
  const methods = ['on', 'off', 'read', 'destroy', Symbol.asyncIterator];
  return methods.every((name) => typeof (input as Record<PropertyKey, unknown>)[name] === 'function');
}

/**
 * Reads a Node stream. `failed` hears of its errors from now until it is closed: one that nobody hears of would end the
 * process, and its async iterator listens only while it is read.
 */
export function iteratorOfNodeStream<T>(
  stream: NodeStream<T>,
  failed: (error: unknown) => void,
): Pick<AsyncIterator<T, unknown>, 'next' | 'return'> {
  const iterator = stream[Symbol.asyncIterator]();
  const forget = () => {
    stream.off('error', failed);
    stream.off('close', forget);
  };
  stream.on('error', failed);
  stream.on('close', forget);
  return {
    next: () => iterator.next(),
    async return() {
      // The iterator would not do it before its first read, and during a read no sooner than that has ended.
      stream.destroy();
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
}
