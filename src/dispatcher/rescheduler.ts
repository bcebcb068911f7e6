import type { Parts } from './parts.ts';
import type { Request } from './request.ts';
import type { ReserveCalls } from './reserveCalls.ts';

/** Reservations are moved only if the first can come forward by so many milliseconds, and by so many round trips. */
const leastGain = 2;
const tripsGained = 2;
/** The least milliseconds between two moves of the store, and the most between two of this client. */
const leastPause = 100;
/** The most between two of this client among contenders, if a request takes `leastPause` or more of the limit's full rate. */
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
 *
 * Moves follow each other the faster, the fewer reservations they concern, so that refunded permits are soon in use again. After
 * a futile one, the client waits for longer: the refunds were not enough for the first request.
 */
export class Rescheduler {
  readonly #parts: Parts;
  readonly #calls: ReserveCalls;
  /** Whether permits were refunded since the last move. */
  #refunded = false;
  #movedAt = -Infinity;
  /** The first request at the last move, when it would have been granted, and the number of futile moves before. */
  #moved: { request: Request | undefined; count: number; due: number; futile: number } = {
    ...{ request: undefined, count: 0, due: 0, futile: 0 },
  };

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

  /** Whether the next call would overtake refunds: refunds are sent one call at a time. Their reply runs a pass. */
  get #isBehindRefunds(): boolean {
    return this.#parts.refunds.inFlight;
  }

  /**
   * Milliseconds between two moves: in proportion to the reservations of all contenders, each of which may move its own, and
   * twice as long after each futile move.
   */
  get #pause(): number {
    const { contenders } = this.#parts.fairShare;
    if (!this.#moves) return leastPause;
    const longest = this.#isRare && contenders > 1 ? shortPause : leastPause;
    return Math.min(longest, contenders ** 2 * this.#parts.reservations.moments.count * 2 ** this.#futile);
  }

  /** Number of futile moves, one after the other: the first request has not come forward since. */
  get #futile(): number {
    const { queue, reservations } = this.#parts;
    const { request, count, due, futile } = this.#moved;
    const { first } = reservations.moments;
    const isFutile =
      queue.first === request && request?.count === count && first && first.due > due - leastGain;
    return isFutile ? futile + 1 : 0;
  }

  /** Whether the client moves its reservations itself. */
  get #moves(): boolean {
    const { contenders, hasOnlyWindows } = this.#parts.fairShare;
    // Buckets hand refunded permits to new requests, which come often enough unless requests are rare.
    return contenders === 1 || hasOnlyWindows || this.#isRare;
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
    const { clock, fairShare, queue, reservations, waitEstimate } = this.#parts;
    if (!this.#refunded || this.#calls.current || this.#isBehindRefunds) return;
    const now = clock.now();
    if (now < this.#movedAt + this.#pause) return;
    this.#refunded = false;
    const { first, last } = reservations.moments;
    if (!first || !last) return;
    const isFar = first.due - now >= Math.max(leastGain, tripsGained * fairShare.roundTrip);
    if (isFar && this.#moves) {
      this.#movedAt = now;
      const request = queue.first!;
      this.#moved = { request, count: request.count, due: first.due, futile: this.#futile };
      reservations.requeueFrom(() => true);
      waitEstimate.retryAt = 0;
    } else if (fairShare.contenders > 1 && last.due - now >= noticePeriod) {
      this.#movedAt = now;
      this.#calls.expedite();
    }
  }
}
