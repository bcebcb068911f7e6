import type { ReserveReply } from '../stores/store.ts';
import { reservationOf } from './applyReply.ts';
import type { Call, SentRun } from './gather.ts';
import type { Parts } from './parts.ts';
import type { Reservation } from './reservation.ts';

/** Fewer requests than this prefetch nothing: a refund would take as long as they save. */
const leastRequests = 32;
/** More requests than this prefetch nothing: their event-loop turn takes longer than a round trip, and would be twice as long. */
const mostRequests = 4096;
/** Nothing is prefetched before so many replies in a row have caused as many requests as they granted. */
const leastReplies = 2;
/** If the requests of an event-loop turn use less than this part, it takes twice as many replies the next time, up to so many. */
const leastUsed = 0.75;
const mostReplies = 64;

/**
 * Permits that a call acquires for requests that are not made yet.
 *
 * Callers that each wait for their permit, and request the next one at once, get one permit each in a round trip, however fast
 * the store is. If the last replies caused as many requests as they granted, the next call asks for twice as many permits. The
 * second half goes to the requests that are made in the event-loop turn of the reply. What they do not use is refunded at the end
 * of that turn; all of it if the turn takes longer than a client may reserve ahead. A turn in this file is always one of the event
 * loop.
 */
export class ReplyPrefetch {
  readonly #parts: Parts;
  /** Number of requests that were granted by the reply of this turn. */
  #granted = 0;
  #held: Reservation | undefined;
  /** Whether the requests of this turn have been made when the next pass runs. */
  #isTurnOver = false;
  /** Whether requests were granted from what was held. */
  #hasServed = false;
  #replies = 0;
  #needed = leastReplies;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether permits wait for the requests of this turn. */
  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  /** Whether callers that have just been granted permits are likely to make requests that the next call should carry. */
  get isExpecting(): boolean {
    return this.#granted > 0 || this.#hasServed;
  }

  /** How many more requests a call asks for: as many as its last run has, if there is room for them. */
  sizeFor(runs: readonly SentRun[]): number {
    const { fairShare } = this.#parts;
    const last = runs.at(-1);
    if (this.#replies < this.#needed || fairShare.contenders > 1) return 0;
    if (!last || last.count < leastRequests || last.count > mostRequests) return 0;
    let load = 0;
    let part = 0;
    for (const { cost, count } of runs) {
      load += fairShare.loadOf(cost) * count;
      part += fairShare.fractionOf(cost) * count;
    }
    return Math.min(last.count, fairShare.room(last.cost, load, part));
  }

  /** A reply has granted so many requests at once, and what the call has prefetched. */
  replied(granted: number, call: Call, reply: ReserveReply, received: number): void {
    const { runs, prefetched } = call;
    // A store that cannot reserve does not know of other contenders.
    if (granted < leastRequests || reply.retryAfter !== undefined) this.#replies = 0;
    else this.#granted = granted;
    if (granted === 0 || prefetched === 0) return;
    const segment = { delay: 0, count: prefetched };
    this.#held = reservationOf(this.#parts, runs.at(-1)!, segment, reply, call.sent, received);
  }

  /** Whether another pass has to run at the end of this turn. */
  settle(): boolean {
    const { isExpecting } = this;
    this.#isTurnOver = this.#granted > 0;
    this.#hasServed = false;
    return isExpecting;
  }

  /** At the end of the turn, lets its requests have what is held. */
  serve(): void {
    if (!this.#isTurnOver) return;
    const held = this.#held;
    const used = held ? this.#handOut(held) / held.count : 1;
    this.#replies = used === 1 && this.#parts.queue.size >= this.#granted ? this.#replies + 1 : 0;
    if (held) this.#needed = used >= leastUsed ? leastReplies : Math.min(2 * this.#needed, mostReplies);
    this.#held = undefined;
    this.#granted = 0;
    this.#isTurnOver = false;
    this.#hasServed = held !== undefined;
  }

  /** Assigns what is held to the requests of the turn, and refunds the rest: all of it after a long turn. Returns how many got it. */
  #handOut(held: Reservation): number {
    const { reservations, refunds, clock, fairShare } = this.#parts;
    const before = reservations.moments.count;
    if (clock.now() <= held.due + fairShare.horizon) reservations.assign(held);
    else refunds.add(held.grant, held.count);
    return reservations.moments.count - before;
  }
}
