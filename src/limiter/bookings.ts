import { type Entry, sameCost } from './entry.ts';
import type { Queue } from './queue.ts';
import type { Refunds } from './refunds.ts';
import { type Reservation, Reservations } from './reservations.ts';

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

  /** Books moments for those who are next in line, as far as they ask for just that; gives back the rest. */
  book({ grant, count, due, soonest, load }: Reservation): void {
    let booked = 0;
    for (let entry = this.#queue.unbooked; entry && booked < count; entry = this.#queue.unbooked) {
      if (!sameCost(entry.cost, grant.cost)) break;
      if (this.#isTooLate(entry, due)) this.#queue.late(entry, due - this.#now());
      else booked += this.#queue.book(count - booked);
    }
    if (booked < count) this.#refunds.add(grant, count - booked);
    if (booked > 0 && this.reservations.add({ grant, count: booked, due, soonest, load })) this.#refuseLate();
  }

  /**
   * Takes a booked entry out of the line. Those who stand next to it and ask for the same move up, and the last of
   * their moments is free: for who comes next, or to be given back.
   */
  free(entry: Entry): void {
    const { cost, count } = entry;
    let next = entry.next;
    this.#queue.leave(entry);
    while (next?.stage === 'booked' && sameCost(next.cost, cost)) next = next.next;
    let after = 0;
    for (; next?.stage === 'booked'; next = next.next) after += next.count;
    for (const freed of this.reservations.takeBefore(after, count))
      if (after === 0) this.book(freed);
      else this.#refunds.add(freed.grant, freed.count);
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
    for (const { grant, count } of this.reservations.takeBefore(0, most)) this.#refunds.add(grant, count);
  }

  /** After moments have changed places, those whose moment comes too late now are refused. */
  #refuseLate(): void {
    const late: Entry[] = [];
    const moments = this.reservations.moments();
    for (const entry of this.#queue.entries()) {
      if (entry.stage !== 'booked') break;
      let due = 0;
      for (let i = 0; i < entry.count; i++) due = moments.next().value!.due;
      if (this.#isTooLate(entry, due)) late.push(entry);
    }
    for (const entry of late) this.late(entry);
  }

  /** What is granted at once is in time, however long the answer took. */
  #isTooLate({ deadline }: Entry, due: number): boolean {
    return due > deadline && due > this.#now();
  }
}
