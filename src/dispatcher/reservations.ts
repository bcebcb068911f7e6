import { sameCost } from '../limits/cost.ts';
import type { Queue } from './queue.ts';
import type { Refunds } from './refunds.ts';
import type { Request } from './request.ts';
import type { Booking, Reservation } from './reservation.ts';
import { ReservedMoments } from './reservedMoments.ts';

/** Which moments are booked for which requests: those at the head of the queue have them in order, one for one. */
export class Reservations {
  readonly #queue: Queue;
  readonly #refunds: Refunds;
  readonly #now: () => number;
  readonly moments = new ReservedMoments();

  constructor(queue: Queue, refunds: Refunds, now: () => number) {
    this.#queue = queue;
    this.#refunds = refunds;
    this.#now = now;
  }

  /** How often something was given back. */
  get returns(): number {
    return this.#refunds.added;
  }

  /** Books moments for those who are next in line, as far as they ask for just that; gives back the rest. */
  book(booking: Booking): void {
    const { grant, count } = booking;
    const due = this.moments.dueOf(booking);
    // Behind a later moment it is handed out only then.
    const meant = due > booking.due ? due : booking.meant;
    let booked = 0;
    for (let request = this.#queue.unbooked; request && booked < count; request = this.#queue.unbooked) {
      if (!sameCost(request.cost, grant.cost)) break;
      if (this.#isTooLate(request, due, meant)) this.#queue.late(request, due - this.#now());
      else {
        const served = this.#queue.book(count - booked);
        served.block = this.moments.add(booking, served.count);
        booked += served.count;
      }
    }
    if (booked < count) this.#refunds.add(grant, count - booked);
  }

  /**
   * Takes a booked request out of the line. Those who stand next to it and ask for the same move up, and the last of
   * their moments is free: for who comes next, or to be given back.
   */
  free(request: Request): void {
    const block = request.block!.whole;
    const isLast = block === this.moments.lastBlock;
    this.#queue.leave(request);
    const freed = this.moments.takeLast(block, request.count);
    if (isLast) for (const booking of freed.reverse()) this.book(booking);
    else for (const { grant, count } of freed) this.#refunds.add(grant, count);
  }

  /** Puts the requests back into the line, not booked, from the first of which that holds on; gives their moments back. */
  unbook(holds: (reservation: Reservation) => boolean): void {
    const count = this.moments.countFrom(holds);
    if (count === 0) return;
    this.#giveBackLast(count);
    this.#queue.unbook(count);
  }

  /** Refuses an request whose time is over. */
  late(request: Request): void {
    if (request.stage === 'booked') {
      this.free(request);
      this.#queue.settled.late(request, undefined);
    } else this.#queue.late(request);
  }

  /** Gives back all that is booked. */
  giveBackAll(): void {
    this.#giveBackLast(this.moments.count);
  }

  #giveBackLast(most: number): void {
    const { moments: reservations } = this;
    for (let left = most; left > 0; ) {
      const taken = reservations.takeLast(reservations.lastBlock!, left);
      for (const { grant, count } of taken) {
        this.#refunds.add(grant, count);
        left -= count;
      }
    }
  }

  /** What is granted at once is in time, however long the answer took. */
  #isTooLate({ deadline }: Request, due: number, meant: number): boolean {
    return meant > deadline && due > this.#now();
  }
}
