import type { Cost } from '../limits/cost.ts';

/** The last denial by the store: while it is remembered, a request that is no smaller need not be asked for. */
export class RefusalCache {
  #cost: Cost = [];
  #since = 0;
  #until = 0;
  #retryAfter = 0;
  /** How often a denial was made void. */
  forgotten = 0;

  /** Remembers that a cost was denied at `now`, for so many milliseconds. */
  remember(cost: Cost, retryAfter: number, now: number, lasts: number): void {
    this.#cost = cost;
    this.#since = now;
    this.#until = now + lasts;
    this.#retryAfter = retryAfter;
  }

  /** The wait in milliseconds that a cost would have, if it is known to be denied. */
  waitFor(cost: Cost, now: number): number | undefined {
    if (now >= this.#until || cost.some((n, i) => n < this.#cost[i])) return undefined;
    return this.#retryAfter - (now - this.#since);
  }

  /** Something was given back: what was denied may be there now. */
  forget(): void {
    this.forgotten++;
    this.#until = 0;
  }
}
