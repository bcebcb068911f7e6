import type { ReserveReply } from '../stores/store.ts';
import { sameCost } from './entry.ts';
import type { Grant } from './line.ts';

/** Moments that are booked for `count` requests at the head of the line. */
export interface Reservation {
  readonly grant: Grant;
  count: number;
  /** When they may be granted, by the line's clock. */
  due: number;
  /** The earliest time, by the line's clock, at which that moment can have been meant: the reply took some time. */
  readonly soonest: number;
  /** Milliseconds of the limit's full rate that each of them takes. */
  readonly load: number;
}

/** What is booked, in the order of the line: the requests at its head, one for one. */
export class Reservations {
  #list: Reservation[] = [];
  #head = 0;
  /** Milliseconds of the limit's full rate. */
  held = 0;
  /** Requests. */
  count = 0;

  get first(): Reservation | undefined {
    return this.#list[this.#head];
  }

  get last(): Reservation | undefined {
    return this.#head < this.#list.length ? this.#list[this.#list.length - 1] : undefined;
  }

  /**
   * Adds moments at the end. A moment that lies before others of the same cost goes before them, so that the requests,
   * which are alike, are served in their own order. Says whether that moved any of them.
   */
  add(reservation: Reservation): boolean {
    let index = this.#list.length;
    while (index > this.#head && goesBefore(reservation, this.#list[index - 1])) index--;
    const moved = index < this.#list.length;
    if (moved) reservation.due = Math.min(reservation.due, dueBefore(reservation, this.#list[index]));
    this.#list.splice(index, 0, reservation);
    // A reply that was read late makes its moments seem late: none comes after a later moment.
    for (let i = index - 1; i >= this.#head && this.#list[i].due > reservation.due; i--)
      this.#list[i].due = dueBefore(this.#list[i], reservation);
    this.count += reservation.count;
    this.held += reservation.load * reservation.count;
    return moved;
  }

  /** Takes one moment from the first reservation: its time has come. */
  shift(): Grant {
    const first = this.#list[this.#head];
    first.count--;
    this.#lessen(first, 1);
    if (first.count === 0) {
      this.#head++;
      if (this.#head > 32 && this.#head * 2 > this.#list.length) {
        this.#list = this.#list.slice(this.#head);
        this.#head = 0;
      }
    }
    return first.grant;
  }

  /** Takes `count` moments that stand before the last `after`, and answers the parts, the latest first. */
  takeBefore(after: number, count: number): Reservation[] {
    const taken: Reservation[] = [];
    let skip = after;
    let missing = count;
    for (let i = this.#list.length - 1; i >= this.#head && missing > 0; i--) {
      const reservation = this.#list[i];
      const passed = Math.min(skip, reservation.count);
      skip -= passed;
      const part = Math.min(missing, reservation.count - passed);
      if (part === 0) continue;
      missing -= part;
      reservation.count -= part;
      this.#lessen(reservation, part);
      if (reservation.count === 0) this.#list.splice(i, 1);
      taken.push({ ...reservation, count: part });
    }
    return taken;
  }

  /** How many moments there are from the first reservation on of which something holds. */
  countFrom(holds: (reservation: Reservation) => boolean): number {
    let count = 0;
    for (let i = this.#head; i < this.#list.length; i++)
      if (count > 0 || holds(this.#list[i])) count += this.#list[i].count;
    return count;
  }

  /** One reservation for each request, in order. */
  *moments(): Generator<Reservation> {
    for (let i = this.#head; i < this.#list.length; i++)
      for (let k = 0; k < this.#list[i].count; k++) yield this.#list[i];
  }

  #lessen({ load }: Reservation, count: number): void {
    this.count -= count;
    // Sums of fractions drift: with nothing booked, nothing is held.
    this.held = this.count === 0 ? 0 : Math.max(0, this.held - load * count);
  }
}

/** Which reservations a pause overtakes, that a reply tells of and that ends at `end` by the line's clock. */
export function overtaken({ now, epoch, paused = 0 }: ReserveReply, end: number) {
  const moment = Math.round(now + paused);
  return ({ grant, due }: Reservation): boolean =>
    grant.epoch === epoch ? grant.moment < moment : due < end;
}

/** Which reservations of older epochs stand no more, as a reply tells; `from` is by the line's clock. */
export function voided({ epoch }: ReserveReply, from: number) {
  return ({ grant, due }: Reservation): boolean => grant.epoch !== epoch && due >= from;
}

/** Whether a moment lies before another one, for requests that are alike. */
function goesBefore(a: Reservation, b: Reservation): boolean {
  if (!sameCost(a.grant.cost, b.grant.cost)) return false;
  return a.grant.epoch === b.grant.epoch ? a.grant.moment < b.grant.moment : a.due < b.due;
}

/** When a moment is due, given another one that is known to come no earlier by the store's clock. */
function dueBefore(a: Reservation, b: Reservation): number {
  const known = a.grant.epoch === b.grant.epoch && a.grant.moment <= b.grant.moment;
  return known ? Math.min(a.due, b.due) : a.due;
}
