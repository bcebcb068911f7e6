import { capacityOf } from '../limits/limit.ts';
import { shortestInterval } from '../limits/load.ts';
import type { Granting } from './granting.ts';
import type { Parts } from './parts.ts';
import type { ReserveCalls } from './reserveCalls.ts';

/** Reservations are moved only if they can come forward by so many milliseconds, and by so many round trips. */
const leastGain = 2;
const tripsGained = 2;
/** The least milliseconds between two moves of the store, and the most between two of this client. */
const leastPause = 100;
/** The most that their number makes of it in windows, and buckets that are soon full, in parts of the shortest interval. */
const pauseParts = 32;
/** The most between two of this client among contenders, if a request takes `leastPause` or more of the limit's full rate. */
const shortPause = 20;
/** Permits that come back overflow a bucket of so few requests until the next call. */
const fewRequests = 20;
/**
 * What comes back overflows buckets that fill within so many milliseconds before most reservations are due. But within so few round
 * trips, it does so before the next call arrives.
 */
const soonFull = 200;
const tripsUntilFull = 8;
/** A move takes time for every waiting request: the next one comes a millisecond later for each so many of them. */
const queuedPerMs = 100;
/** A refund is late if it comes after more than this part of the shortest interval. */
const lateParts = 10;
/** After a late refund, requests that take so many milliseconds of the limit's full rate are moved, too. */
const slowLoad = 10;

/** A move that has not been judged, and the state before it. */
interface Move {
  /** Number of calls sent. */
  calls: number;
  /** Number of granted requests. */
  granted: number;
  /** Number of reservations in front of those that were moved. */
  kept: number;
  /** When the first reservation that was moved would have been due. */
  due: number;
}

/**
 * Moves reservations to earlier moments after refunds.
 *
 * Without contenders, the client refunds its reservations before the refund that makes room, and then asks for new ones on the
 * same connection. With contenders, the store gives the returned permits to the next call, of any client. If a limit is a
 * window, buckets are soon full, or requests are rare, or slow and the refund is late, the client moves its reservations then,
 * too. The store makes reservations void that are far ahead: the client receives that with its next call.
 *
 * Moves follow each other the faster, the fewer reservations they concern, so that refunded permits are soon in use again. After
 * a futile one, the client waits for longer: the refunds were not enough for the first request.
 */
export class Rescheduler {
  readonly #parts: Parts;
  readonly #calls: ReserveCalls;
  readonly #granting: Granting;
  /** Whether the last refund was late. */
  #late = false;
  #movedAt = -Infinity;
  #move: Move | undefined;
  /** Number of futile moves since the last that was not. */
  #futile = 0;

  constructor(parts: Parts, calls: ReserveCalls, granting: Granting) {
    this.#parts = parts;
    this.#calls = calls;
    this.#granting = granting;
  }

  /** When reservations may be moved next. */
  get next(): number {
    return this.#isReady && this.#parts.queue.first ? this.#movedAt + this.#pause : Infinity;
  }

  /** Whether a move may help, and its call overtakes no refunds. After a call in flight, its reply runs a pass. */
  get #isReady(): boolean {
    return this.#parts.bounds.mayMove && !this.#calls.current && !this.#parts.refunds.mustWait;
  }

  /**
   * Milliseconds between two moves: in proportion to the reservations of all contenders, each of which may move its own, up to a
   * part of the interval of a window or of a bucket that is soon full, and twice as long after each futile move.
   */
  get #pause(): number {
    const { fairShare, ledger, queue, reservations } = this.#parts;
    const { contenders } = fairShare;
    const longest = contenders > 1 && this.#takes(leastPause) ? shortPause : leastPause;
    const most = this.#isSoonLost ? shortestInterval(ledger) / pauseParts : Infinity;
    const ofReservations = Math.min(contenders ** 2 * reservations.moments.count, most);
    return Math.min(longest, Math.max(ofReservations * 2 ** this.#futile, queue.size / queuedPerMs));
  }

  /** Whether the client moves its reservations itself. */
  get #moves(): boolean {
    // Buckets hand refunded permits to new requests. These come often enough unless requests are rare, many of them wait for
    // permits that come back late, or the bucket is small.
    if (this.#parts.fairShare.contenders === 1 || this.#isSoonLost || this.#isSmall) return true;
    return this.#takes(this.#late ? slowLoad : leastPause);
  }

  /** Whether what comes back is soon of no use: as a window ends, or buckets are full. */
  get #isSoonLost(): boolean {
    return this.#parts.fairShare.hasWindow || this.#refillTime <= soonFull;
  }

  /** Milliseconds in which all buckets fill, or Infinity if there is a window, or that is over before the next call arrives. */
  get #refillTime(): number {
    const { ledger, fairShare } = this.#parts;
    const times = ledger.limits.map((limit) =>
      limit.kind === 'tokenBucket' ? (limit.burst * limit.interval) / limit.permits : Infinity,
    );
    const time = Math.max(...times);
    return time < tripsUntilFull * fairShare.usualTrip ? Infinity : time;
  }

  /** Whether reservations may be moved behind some that are due too soon. Of other buckets, contenders would get most of the gain. */
  get #movesBehind(): boolean {
    return this.#isSoonLost || (this.#parts.fairShare.contenders === 1 && this.#refillTime < Infinity);
  }

  /**
   * Whether full buckets hold few requests like the only one that has a reservation, but more than one. The places of several could
   * be lost before reservations of others.
   */
  get #isSmall(): boolean {
    const { ledger, reservations } = this.#parts;
    const { first, count } = reservations.moments;
    if (!first || count > 1) return false;
    return ledger.limits.every((limit, i) => {
      const requests = capacityOf(limit) / first.grant.cost[i];
      return requests > 1 && requests <= fewRequests;
    });
  }

  /** Whether the first request takes so many milliseconds of the limit's full rate. */
  #takes(load: number): boolean {
    const { fairShare, reservations } = this.#parts;
    const { first } = reservations.moments;
    return first !== undefined && fairShare.loadOf(first.grant.cost) >= load;
  }

  /** Permits are about to be refunded that were due then. */
  refunding(due = Infinity): void {
    const { bounds, clock, ledger } = this.#parts;
    bounds.mayMove = true;
    this.#late = (clock.now() - due) * lateParts > shortestInterval(ledger);
    this.run();
  }

  /** Moves reservations if permits were refunded and it is time. */
  run(): void {
    this.#judge();
    if (!this.#isReady) return;
    const { bounds, clock, fairShare, reservations, waitEstimate } = this.#parts;
    const { moments } = reservations;
    const now = clock.now();
    if (now < this.#movedAt + this.#pause) return;
    bounds.mayMove = false;
    const far = now + Math.max(leastGain, tripsGained * fairShare.usualTrip);
    const kept = moments.countDue(far);
    const due = moments.dueAfter(kept);
    if (due !== undefined && this.#moves && (kept === 0 || this.#movesBehind)) {
      this.#movedAt = now;
      this.#move = { calls: this.#calls.count, granted: this.#granting.count, kept, due };
      reservations.requeueFrom((reservation) => reservation.due > far);
      waitEstimate.retryAt = 0;
    }
  }

  /** After the reply to a move: whether it was futile, that is, no request was granted or has come forward. */
  #judge(): void {
    if (!this.#move || this.#calls.current || this.#calls.count === this.#move.calls) return;
    const { granted, kept, due } = this.#move;
    this.#move = undefined;
    const isFutile =
      granted === this.#granting.count && this.#parts.reservations.moments.dueAfter(kept)! > due - leastGain;
    this.#futile = isFutile ? this.#futile + 1 : 0;
  }
}
