import { type Entry, sameCost } from './entry.ts';
import type { Queue } from './queue.ts';
import type { Refunds } from './refunds.ts';
import { type Booking, type Reservation, Reservations } from './reservations.ts';

/** Which moments are booked for which requests: those at the head of the queue have them in order, one for one. */
export class Bookings {
  readonly #queue: Queue;
  readonly #refunds: Refunds;
  readonly #now: () => number;
  readonly reservations = new Reservations();

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
    const due = this.reservations.dueOf(booking);
    // Behind a later moment it is handed out only then.
    const meant = due > booking.due ? due : booking.meant;
    let booked = 0;
    for (let entry = this.#queue.unbooked; entry && booked < count; entry = this.#queue.unbooked) {
      if (!sameCost(entry.cost, grant.cost)) break;
      if (this.#isTooLate(entry, due, meant)) this.#queue.late(entry, due - this.#now());
      else {
        const served = this.#queue.book(count - booked);
        served.block = this.reservations.add(booking, served.count);
        booked += served.count;
      }
    }
    if (booked < count) this.#refunds.add(grant, count - booked);
  }

  /**
   * Takes a booked entry out of the line. Those who stand next to it and ask for the same move up, and the last of
   * their moments is free: for who comes next, or to be given back.
   */
  free(entry: Entry): void {
    const block = entry.block!.whole;
    const isLast = block === this.reservations.lastBlock;
    this.#queue.leave(entry);
    const freed = this.reservations.takeLast(block, entry.count);
    if (isLast) for (const booking of freed.reverse()) this.book(booking);
    else for (const { grant, count } of freed) this.#refunds.add(grant, count);
  }

  /** Puts the requests back into the line, not booked, from the first of which that holds on; gives their moments back. */
  unbook(holds: (reservation: Reservation) => boolean): void {
    const count = this.reservations.countFrom(holds);
    if (count === 0) return;
    this.#giveBackLast(count);
    this.#queue.unbook(count);
  }

  /** Refuses an entry whose time is over. */
  late(entry: Entry): void {
    if (entry.stage === 'booked') {
      this.free(entry);
      this.#queue.news.late(entry, undefined);
    } else this.#queue.late(entry);
  }

  /** Gives back all that is booked. */
  giveBackAll(): void {
    this.#giveBackLast(this.reservations.count);
  }

  #giveBackLast(most: number): void {
    const { reservations } = this;
    for (let left = most; left > 0; ) {
      const taken = reservations.takeLast(reservations.lastBlock!, left);
      for (const { grant, count } of taken) {
        this.#refunds.add(grant, count);
        left -= count;
      }
    }
  }

  /** What is granted at once is in time, however long the answer took. */
  #isTooLate({ deadline }: Entry, due: number, meant: number): boolean {
    return meant > deadline && due > this.#now();
  }
}
