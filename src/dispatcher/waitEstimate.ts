import type { Cost } from '../limits/cost.ts';
import { exceeds } from '../limits/limit.ts';
import type { Ledger } from '../stores/store.ts';
import type { Queue } from './queue.ts';
import type { Refunds } from './refunds.ts';
import type { Request } from './request.ts';
import type { Reservations } from './reservations.ts';

/** The last refusal of a request that may not wait. Until `until`, a request that costs no less is refused without a call. */
interface Refusal {
  cost: Cost;
  retryAfter: number;
  at: number;
  until: number;
  /** Version of the refunds: permits may have become available since. */
  version: number;
}

/** Estimates without a call whether requests must wait: from reservations, the time of the next call, and the last refusal. */
export class WaitEstimate {
  readonly #ledger: Ledger;
  readonly #queue: Queue;
  readonly #reservations: Reservations;
  readonly #refunds: Refunds;
  #retryAt = 0;
  /** Whether clients call in order. If no request was left at the reply, `retryAt` is that of the next one then. */
  isOrdered = false;
  /** The first request without a reservation when `retryAt` was set. */
  #retries: Request | undefined;
  #refusal: Refusal | undefined;

  constructor(ledger: Ledger, queue: Queue, reservations: Reservations, refunds: Refunds) {
    this.#ledger = ledger;
    this.#queue = queue;
    this.#reservations = reservations;
    this.#refunds = refunds;
  }

  /** When the first request without a reservation may be sent again, by the last reply. 0 if another request is first now. */
  get retryAt(): number {
    const { firstUnreserved } = this.#queue;
    const isMeant = this.#retries
      ? this.#retries === firstUnreserved
      : this.isOrdered && firstUnreserved?.timeout === Infinity;
    return isMeant ? this.#retryAt : 0;
  }

  set retryAt(time: number) {
    this.#retryAt = time;
    this.#retries = this.#queue.firstUnreserved;
  }

  /** Whether some queued request is known to have to wait. */
  mustWait(now: number): boolean {
    const { last } = this.#reservations.moments;
    return (
      (last !== undefined && last.due > now) ||
      (this.#queue.firstUnreserved !== undefined && this.retryAt > now)
    );
  }

  /** The wait of a new request that may not wait: 0 if it has to be sent, Infinity if the time is not known. */
  refusalWait(cost: Cost, now: number): number {
    if (this.mustWait(now)) return Infinity;
    const refusal = this.#refusal;
    if (!refusal || refusal.version !== this.#refunds.version || now >= refusal.until) return 0;
    const { retryAfter, at } = refusal;
    const isSmaller = cost.some((n, i) => n < refusal.cost[i]);
    // The store decides whether the limit can ever grant the cost.
    return isSmaller || exceeds(this.#ledger.limits, cost) ? 0 : retryAfter - (now - at);
  }

  /** Remembers for `ms` milliseconds that the store refused a cost at `at`. */
  refused(cost: Cost, retryAfter: number, at: number, ms: number, version: number): void {
    this.#refusal = { cost, retryAfter, at, until: at + ms, version };
  }

  /** Denies queued requests that may not wait. */
  denyImmediate(now: number): void {
    for (const request of this.#queue.immediate) {
      const wait = this.refusalWait(request.cost, now);
      // The requests behind it are refused after the next reply, if at all: a walk over a long queue for each would be slow.
      if (wait <= 0) return;
      this.#queue.settle(request, wait === Infinity ? undefined : wait);
    }
  }
}
