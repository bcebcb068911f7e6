import { sameCost } from '../limits/cost.ts';
import type { Grant } from '../port/line.ts';
import type { ReserveReply } from '../stores/store.ts';
import { Block } from './block.ts';
import { Chain } from './chain.ts';
import { type Booking, Reservation } from './reservation.ts';

/** What is booked, in the order of the line: the requests at its head, one for one. Moments never go back. */
export class ReservedMoments {
  readonly #list = new Chain<Reservation>();
  readonly #blocks = new Chain<Block>();
  /** Milliseconds of the limit's full rate. */
  held = 0;
  /** Requests. */
  count = 0;

  get first(): Reservation | undefined {
    return this.#list.first;
  }

  get last(): Reservation | undefined {
    return this.#list.last;
  }

  get lastBlock(): Block | undefined {
    return this.#blocks.last;
  }

  /** When a booking that goes to the end of the line can be granted: not before those in front of it. */
  dueOf(booking: Booking): number {
    for (let before = this.last; before && before.due > booking.due; before = before.previous)
      if (!isKnownBefore(before, booking)) return before.due;
    return booking.due;
  }

  /** Adds moments at the end, and says to which block they belong. */
  add(booking: Booking, count: number): Block {
    const due = this.dueOf(booking);
    // A reply that was read late makes its moments seem late: none comes after a later moment.
    for (let before = this.last; before && before.due > due; before = before.previous) before.due = due;
    this.count += count;
    this.held += booking.load * count;
    const block = this.#blockFor(booking);
    block.count += count;
    if (block.last?.grant === booking.grant) block.last.count += count;
    else {
      block.last = new Reservation(booking, count, due);
      this.#list.append(block.last);
    }
    return block;
  }

  /** Takes one moment from the first reservation: its time has come. */
  shift(): Grant {
    const first = this.first!;
    this.#lessen(this.#blocks.first!, first, 1);
    return first.grant;
  }

  /** Takes the last `count` moments of a block, and answers the parts, the latest first. */
  takeLast(block: Block, count: number): Booking[] {
    const taken: Booking[] = [];
    for (let missing = count; missing > 0 && block.last; ) {
      const { last } = block;
      const { grant, due, meant, soonest, load } = last;
      const part = Math.min(missing, last.count);
      taken.push({ grant, count: part, due, meant, soonest, load });
      missing -= part;
      this.#lessen(block, last, part);
    }
    return taken;
  }

  /** How many moments there are from the first reservation on of which something holds. */
  countFrom(holds: (reservation: Reservation) => boolean): number {
    let count = 0;
    for (let one = this.first; one; one = one.next) if (count > 0 || holds(one)) count += one.count;
    return count;
  }

  /** How many moments have come. */
  countDue(now: number): number {
    let count = 0;
    for (let one = this.first; one && one.due <= now; one = one.next) count += one.count;
    return count;
  }

  #blockFor({ grant: { cost } }: Booking): Block {
    const { last } = this.#blocks;
    if (last && sameCost(last.cost, cost)) return last;
    const block = new Block(cost);
    this.#blocks.append(block);
    return block;
  }

  /** Takes moments out of the first or the last reservation of a block. */
  #lessen(block: Block, reservation: Reservation, count: number): void {
    this.count -= count;
    // Sums of fractions drift: with nothing booked, nothing is held.
    this.held = this.count === 0 ? 0 : Math.max(0, this.held - reservation.load * count);
    block.count -= count;
    reservation.count -= count;
    if (reservation.count > 0) return;
    if (block.last === reservation) block.last = block.count > 0 ? reservation.previous : undefined;
    this.#list.remove(reservation);
    if (block.count === 0) this.#drop(block);
  }

  /** Takes an empty block away; its neighbours may be alike, and one from then on. */
  #drop(block: Block): void {
    const { previous, next } = block;
    this.#blocks.remove(block);
    if (!previous || !next || !sameCost(previous.cost, next.cost)) return;
    next.join(previous);
    this.#blocks.remove(next);
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

/** Whether a moment is known to come no later than another one, by the store's clock. */
function isKnownBefore(a: Booking, b: Booking): boolean {
  return a.grant.epoch === b.grant.epoch && a.grant.moment <= b.grant.moment;
}
