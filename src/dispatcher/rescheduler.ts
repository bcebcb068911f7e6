import { shortestInterval } from './fairShare.ts';
import type { Parts } from './parts.ts';
import type { ReserveCalls } from './reserveCalls.ts';

/** Milliseconds: reservations are moved only if the first can come forward by this, and by a hundredth of the interval. */
const leastMove = 20;
/**
 * The least milliseconds between two moves. The short pause applies among contenders if a request takes `leastPause` or more of
 * the limit's full rate.
 */
const leastPause = 100;
const shortPause = 20;
/** Milliseconds after which every client with waiting requests has called again, so that later reservations can become void. */
const noticePeriod = 2_000;

/**
 * Moves reservations to earlier moments after refunds.
 *
 * Without contenders, the client refunds its reservations before the refund that makes room, and then asks for new ones on the
 * same connection. With contenders, the store gives the returned permits to the next call, of any client. If all limits are
 * windows, or requests are rare, the client moves its reservations then, too. Otherwise it only calls soon, because the store
 * makes reservations void that are far ahead.
 */
export class Rescheduler {
  readonly #parts: Parts;
  readonly #calls: ReserveCalls;
  /** Whether permits were refunded since the last move. */
  #refunded = false;
  #movedAt = -Infinity;

  constructor(parts: Parts, calls: ReserveCalls) {
    this.#parts = parts;
    this.#calls = calls;
  }

  /** When reservations may be moved next. */
  get next(): number {
    if (!this.#refunded || !this.#parts.queue.first || this.#calls.current || this.#isBehindRefunds)
      return Infinity;
    return this.#movedAt + this.#pause;
  }

  /** Whether the next call would overtake refunds that other clients may need. Their reply runs a pass. */
  get #isBehindRefunds(): boolean {
    const { fairShare, refunds } = this.#parts;
    return fairShare.contenders > 1 && refunds.inFlight;
  }

  get #pause(): number {
    return this.#isRare && this.#parts.fairShare.contenders > 1 ? shortPause : leastPause;
  }

  /** Whether a request takes `leastPause` milliseconds or more of the limit's full rate. */
  get #isRare(): boolean {
    const { fairShare, reservations } = this.#parts;
    const { first } = reservations.moments;
    return first !== undefined && fairShare.loadOf(first.grant.cost) >= leastPause;
  }

  /** Permits are about to be refunded. */
  refunding(): void {
    this.#refunded = true;
    this.run();
  }

  /** Moves reservations if permits were refunded and it is time. */
  run(): void {
    const { clock, fairShare, ledger, reservations, waitEstimate } = this.#parts;
    if (!this.#refunded || this.#calls.current || this.#isBehindRefunds) return;
    const now = clock.now();
    if (now < this.#movedAt + this.#pause) return;
    const isAlone = fairShare.contenders === 1;
    this.#refunded = false;
    const { first, last } = reservations.moments;
    if (!first || !last) return;
    const isFar = first.due - now >= Math.max(leastMove, shortestInterval(ledger.limits) / 100);
    // Buckets hand refunded permits to new requests, which come often enough unless requests are rare.
    if (isFar && (isAlone || fairShare.hasOnlyWindows || this.#isRare)) {
      this.#movedAt = now;
      reservations.requeueFrom(() => true);
      waitEstimate.retryAt = 0;
    } else if (!isAlone && last.due - now >= noticePeriod) {
      this.#movedAt = now;
      this.#calls.expedite();
    }
  }
}
