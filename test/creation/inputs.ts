/** The calls of an input. */
export interface Asked {
  /** The number of iterators. */
  opened: number;
  /** Calls of `next`. */
  pulled: number;
  /** Calls of `return`. */
  returned: number;
}

/** An iterable of the given values that counts its calls. */
export function watched<T>(values: Iterable<T>): Iterable<T> & Asked {
  return {
    opened: 0,
    pulled: 0,
    returned: 0,
    [Symbol.iterator]() {
      this.opened++;
      const iterator = values[Symbol.iterator]();
      return {
        next: () => {
          this.pulled++;
          return iterator.next();
        },
        return: () => {
          this.returned++;
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** The same, asynchronously. */
export function watchedAsync<T>(values: Iterable<T>): AsyncIterable<T> & Asked {
  return {
    opened: 0,
    pulled: 0,
    returned: 0,
    [Symbol.asyncIterator]() {
      this.opened++;
      const iterator = values[Symbol.iterator]();
      return {
        next: async () => {
          this.pulled++;
          return iterator.next();
        },
        return: async () => {
          this.returned++;
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** All integers from 0 on. */
export function* naturals(): Generator<number> {
  for (let n = 0; ; n++) yield n;
}

/** An async iterable whose results the test sends, each to the oldest pending `next`. */
export interface ByHand<T> extends AsyncIterable<T> {
  readonly pulled: number;
  readonly returned: number;
  answer(result: IteratorResult<T, unknown>): Promise<void>;
  fail(error: unknown): Promise<void>;
}

export function byHand<T>(): ByHand<T> {
  const open: { resolve(result: IteratorResult<T, unknown>): void; reject(error: unknown): void }[] = [];
  let pulled = 0;
  let returned = 0;
  return {
    get pulled() {
      return pulled;
    },
    get returned() {
      return returned;
    },
    async answer(result) {
      open.shift()!.resolve(result);
      await settled();
    },
    async fail(error) {
      open.shift()!.reject(error);
      await settled();
    },
    [Symbol.asyncIterator]: () => ({
      next() {
        pulled++;
        return new Promise((resolve, reject) => open.push({ resolve, reject }));
      },
      async return() {
        returned++;
        return { done: true, value: undefined };
      },
    }),
  };
}

/** Resolves when pending promises have been handled, on a fake clock too. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 10; i++) await undefined;
}
