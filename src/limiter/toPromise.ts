import type { Reply } from '../stores/store.ts';

/** Makes a call that replies to a callback, and returns its reply as a promise. */
export function toPromise<T>(call: (reply: Reply<T>) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    call((error, value) => (error ? reject(error) : resolve(value as T))),
  );
}
