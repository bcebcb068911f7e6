import { noticePeriod, type ReserveReply } from '../stores/store.ts';
import type { Reservation } from './reservation.ts';

/**
 * Knows which reservations stand. The store gives notice before it makes reservations void: those within the notice period after
 * a reply still stand, and a later one is granted after another reply only.
 */
export class Notice {
  readonly #alone: boolean;
  #epoch = 0;
  /** The time of the last reply by the store's clock. */
  #now = -Infinity;
  /** When the call of the last reply was sent, by the monotonic clock. */
  #sent = -Infinity;

  constructor(alone = false) {
    this.#alone = alone;
  }

  /** The store has replied to a call. */
  replied({ epoch, now }: ReserveReply, sent: number): void {
    this.#epoch = epoch;
    this.#now = now;
    this.#sent = sent;
  }

  /** Whether a reservation stands, whatever the store has made void since the last reply. */
  covers({ grant, due }: Reservation): boolean {
    if (this.#alone) return true;
    if (grant.epoch === this.#epoch) return grant.moment < this.#now + noticePeriod;
    return due < this.#sent + noticePeriod;
  }

  /** Whether a reply that is received now may leave out what became void: the store remembers it for two such periods. */
  isLost({ epoch }: ReserveReply, received: number): boolean {
    return epoch !== this.#epoch && this.#isOld(received);
  }

  /**
   * Whether a reservation is not to be refunded: it may have become void, its permits may have been granted to another client,
   * and the store may no longer know.
   */
  isForgotten(reservation: Reservation, now: number): boolean {
    return this.#isOld(now) && !this.covers(reservation);
  }

  #isOld(now: number): boolean {
    return !this.#alone && now > this.#sent + 2 * noticePeriod;
  }
}
