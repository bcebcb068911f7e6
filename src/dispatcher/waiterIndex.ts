import type { Waiter } from '../port/line.ts';
import type { Request } from './request.ts';

/** Links the requests of each waiter, so that a waiter cancels all of them without a walk over the queue. */
export class WaiterIndex {
  readonly #newest = new Map<Waiter<unknown>, Request>();
  /** The waiters that have a `delayed` callback. */
  readonly delayListeners = new Set<Waiter<unknown>>();
  /** The waiters that prefetch: those with several requests, and perhaps some with one. */
  readonly prefetching = new Set<Waiter<unknown>>();

  newestOf(waiter: Waiter<unknown>): Request | undefined {
    return this.#newest.get(waiter);
  }

  /** Puts a request between two others of its waiter. */
  link(request: Request, older: Request | undefined, newer: Request | undefined): void {
    const { waiter } = request;
    request.older = older;
    request.newer = newer;
    if (older) older.newer = request;
    if (newer) newer.older = request;
    else {
      this.#newest.set(waiter, request);
      if (waiter.delayed) this.delayListeners.add(waiter);
      if (older) this.grew(waiter);
    }
  }

  /** A waiter has several requests. */
  grew(waiter: Waiter<unknown>): void {
    if (waiter.prefetches) this.prefetching.add(waiter);
  }

  unlink(request: Request): void {
    const { waiter, older, newer } = request;
    if (older) older.newer = newer;
    if (newer) newer.older = older;
    else if (older) this.#newest.set(waiter, older);
    else {
      this.#newest.delete(waiter);
      this.delayListeners.delete(waiter);
      this.prefetching.delete(waiter);
    }
    request.older = request.newer = undefined;
  }
}
