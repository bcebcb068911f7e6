import type { Reply } from '../stores/store.ts';

/** A store's answer as a promise. */
export function toPromise<T>(call: (done: Reply<T>) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    call((error, value) => (error ? reject(error) : resolve(value as T))),
  );
}
