import { Chain } from '../chain.ts';
import { sameCost } from '../limits/cost.ts';
import type { Grant } from '../port/line.ts';
import type { ReserveReply } from '../stores/store.ts';
import { Block } from './block.ts';
import type { Reservation } from './reservation.ts';

/** The reservations, in the order of the queue. Their moments never decrease. */
export class ReservedMoments {
  readonly #list = new Chain<Reservation>();
  readonly #blocks = new Chain<Block>();
  #held = 0;
  #count = 0;
  readonly #permits: number[] = [];
  /** Moments that were taken from the first reservation, and are not subtracted from these sums yet: few readers need the sums. */
  #shifted = 0;

  /** The reserved permits, in milliseconds of the limit's full rate. */
  get held(): number {
    this.#settle();
    return this.#held;
  }

  /** Number of reserved requests. */
  get count(): number {
    return this.#count - this.#shifted;
  }

  /** The permits of each limit that they ask for. */
  get permits(): readonly number[] {
    this.#settle();
    return this.#permits;
  }

  get first(): Reservation | undefined {
    return this.#list.first;
  }

  get last(): Reservation | undefined {
    return this.#list.last;
  }

  get lastBlock(): Block | undefined {
    return this.#blocks.last;
  }

  /** When a reservation at the end can be granted: not before those in front of it. */
  dueOf(added: Reservation): number {
    for (let before = this.last; before && before.due > added.due; before = before.previous)
      if (!isKnownBefore(before, added)) return before.due;
    return added.due;
  }

  /** Adds a reservation at the end for `count` of its requests, and returns its block. */
  add(added: Reservation, count: number): Block {
    const due = this.dueOf(added);
    // A reply that is read late makes its moments seem late: an earlier moment cannot be due after a later one.
    for (let before = this.last; before && before.due > due; before = before.previous) before.due = due;
    this.#sum(added, count);
    const block = this.#blockFor(added);
    block.count += count;
    if (block.last?.grant === added.grant) block.last.count += count;
    else {
      block.last = added.part(count, due);
      this.#list.add(block.last);
    }
    return block;
  }

  /** Takes moments from the first reservation: one, or `count` that it has. */
  shift(count = 1): Grant {
    const first = this.first!;
    const block = this.#blocks.first!;
    if (first.count === count) this.#subtract(block, first, count);
    else {
      first.count -= count;
      block.count -= count;
      this.#shifted += count;
    }
    return first.grant;
  }

  /** Takes the last `count` moments of a block, or all that it has, the latest first. */
  takeLast(block: Block, count: number): Reservation[] {
    const taken: Reservation[] = [];
    for (let missing = count; missing > 0 && block.last; ) {
      const { last } = block;
      const part = Math.min(missing, last.count);
      taken.push(last.part(part));
      missing -= part;
      this.#subtract(block, last, part);
    }
    return taken;
  }

  /**
   * Puts an earlier reservation in front of those of the first requests that are due later, if they have its cost. Returns the
   * moments that are not needed now.
   */
  bringForward(earlier: Reservation): Reservation[] {
    const block = this.#blocks.first;
    let next = this.first;
    let later = block && sameCost(block.cost, earlier.grant.cost) ? block.count : 0;
    for (; later > 0 && next!.due <= earlier.due; next = next!.next) later -= next!.count;
    const count = Math.min(later, earlier.count);
    const left = count < earlier.count ? [earlier.part(earlier.count - count)] : [];
    if (!block || count === 0) return left;
    this.#sum(earlier, count);
    block.count += count;
    this.#list.add(earlier.part(count), next);
    return [...this.takeLast(block, count), ...left];
  }

  /** Number of the first requests that have one cost. */
  get firstAlike(): number {
    return this.#blocks.first?.count ?? 0;
  }

  /** When the moment after the first `count` ones is due; undefined if there is none. */
  dueAfter(count: number): number | undefined {
    let left = count;
    for (let one = this.first; one; one = one.next) {
      left -= one.count;
      if (left < 0) return one.due;
    }
    return undefined;
  }

  /** Number of moments from the first reservation on that matches. */
  countFrom(matches: (reservation: Reservation) => boolean): number {
    let count = 0;
    for (let one = this.first; one; one = one.next) if (count > 0 || matches(one)) count += one.count;
    return count;
  }

  /** Number of moments that are due. */
  countDue(now: number): number {
    let count = 0;
    for (let one = this.first; one && one.due <= now; one = one.next) count += one.count;
    return count;
  }

  /** Adds `count` moments like this one to the sums, or subtracts them if it is negative. */
  #sum({ grant: { cost }, load }: Reservation, count: number): void {
    this.#settle();
    this.#count += count;
    // Sums of fractions drift: an empty list holds exactly nothing.
    this.#held = this.#count === 0 ? 0 : Math.max(0, this.#held + load * count);
    for (let i = 0; i < cost.length; i++) this.#permits[i] = (this.#permits[i] ?? 0) + cost[i] * count;
  }

  #settle(): void {
    const shifted = this.#shifted;
    this.#shifted = 0;
    if (shifted > 0) this.#sum(this.first!, -shifted);
  }

  #blockFor({ grant: { cost } }: Reservation): Block {
    const { last } = this.#blocks;
    if (last && sameCost(last.cost, cost)) return last;
    const block = new Block(cost);
    this.#blocks.add(block);
    return block;
  }

  /** Subtracts moments from the first or the last reservation of a block. */
  #subtract(block: Block, reservation: Reservation, count: number): void {
    this.#sum(reservation, -count);
    block.count -= count;
    reservation.count -= count;
    if (reservation.count > 0) return;
    if (block.last === reservation) block.last = block.count > 0 ? reservation.previous : undefined;
    this.#list.remove(reservation);
    if (block.count === 0) this.#removeBlock(block);
  }

  /** Removes an empty block, and merges its neighbours if they have the same cost. */
  #removeBlock(block: Block): void {
    const { previous, next } = block;
    this.#blocks.remove(block);
    if (!previous || !next || !sameCost(previous.cost, next.cost)) return;
    next.mergeInto(previous);
    this.#blocks.remove(next);
  }
}

/**
 * Matches the reservations that are void because of a pause for `paused` milliseconds after a reply, until `end` by the monotonic
 * clock.
 */
export function isPaused({ now, epoch }: ReserveReply, paused: number, end: number) {
  const moment = Math.round(now + paused);
  return ({ grant, due }: Reservation): boolean =>
    grant.epoch === epoch ? grant.moment < moment : due < end;
}

/** The store tells waits in whole microseconds, so of two that end together, one may seem to end as much later. */
const microsecond = 0.001;

/** Matches the reservations of older epochs that are void: those due at `from` by the monotonic clock, or later. */
export function isVoid({ epoch }: ReserveReply, from: number) {
  return ({ grant, due }: Reservation): boolean => grant.epoch !== epoch && due >= from - microsecond;
}

/** Whether a moment is known to be no later than another one: moments of one epoch are by the same clock. */
function isKnownBefore(a: Reservation, b: Reservation): boolean {
  return a.grant.epoch === b.grant.epoch && a.grant.moment <= b.grant.moment;
}
