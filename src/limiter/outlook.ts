import { exceeds } from '../limits/limit.ts';
import type { Cost } from '../stores/store.ts';
import type { Entry } from './entry.ts';
import { leastWait } from './forecast.ts';
import type { LineParts } from './lineParts.ts';

/** What is known here, without a call, of how long a request will have to wait. */
export class Outlook {
  readonly #parts: LineParts;
  #retryAt = 0;
  /** Who was at the head of the line then. */
  #retries: Entry | undefined;

  constructor(parts: LineParts) {
    this.#parts = parts;
  }

  /** Before this time a store that cannot book is not asked again, unless somebody else has come to the head of the line. */
  get retryAt(): number {
    return this.#retries === this.#parts.queue.unbooked ? this.#retryAt : 0;
  }

  set retryAt(time: number) {
    this.#retryAt = time;
    this.#retries = this.#parts.queue.unbooked;
  }

  /** Whether anyone in the line is known to have to wait. */
  stands(now: number): boolean {
    const { last } = this.#parts.bookings.reservations;
    return (
      (last !== undefined && last.due > now) ||
      (this.#parts.queue.unbooked !== undefined && this.retryAt > now)
    );
  }

  /**
   * The wait of a new request: Infinity where only that there is one is known. `since` is the time from which on the store
   * may have granted what is not known here.
   */
  waitFor(cost: Cost, timeout: number, now: number, since: number): number {
    const { ledger, queue, bookings, denial } = this.#parts;
    if (timeout === 0) {
      if (this.stands(now)) return Infinity;
      // What is too much is for the store to say.
      return exceeds(ledger.limits, cost) ? 0 : (denial.waitFor(cost, now) ?? 0);
    }
    const wait = leastWait(ledger.limits, cost, queue.asked);
    return Math.max(bookings.reservations.last?.soonest ?? 0, since) + wait - now;
  }

  /** Those leave who will not wait when others have to, and those whose time is too short for what stands before them. */
  refuseHopeless(now: number): void {
    const { ledger, queue, bookings } = this.#parts;
    if (queue.hasty > 0 && this.stands(now))
      for (const entry of queue.entries(queue.unbooked))
        if (entry.timeout === 0 && entry.stage === 'queued') queue.late(entry);
    const { last } = bookings.reservations;
    if (queue.deadlines.next === Infinity || !last || last.due <= now) return;
    const asked = queue.asked.map(() => 0);
    for (const entry of queue.entries(queue.unbooked)) {
      const { cost, count, timeout, deadline } = entry;
      if (timeout === Infinity) for (let i = 0; i < asked.length; i++) asked[i] += cost[i] * count;
      else if (timeout > 0) {
        const soonest = last.soonest + leastWait(ledger.limits, cost, asked);
        if (soonest > deadline) queue.late(entry, soonest - now);
      }
    }
  }
}
