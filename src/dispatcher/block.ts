import type { Cost } from '../limits/cost.ts';
import type { Link } from './chain.ts';
import type { Reservation } from './reservation.ts';

/** Neighbouring reservations of one cost. Their requests are alike, so that any of them may leave with the last moment. */
export class Block implements Link<Block> {
  previous: Block | undefined;
  next: Block | undefined;
  /** Moments. */
  count = 0;
  /** The last of its reservations. */
  last: Reservation | undefined;
  #into: Block | undefined;

  constructor(readonly cost: Cost) {}

  /** The block that this one has become a part of, or itself. */
  get whole(): Block {
    let whole: Block = this;
    while (whole.#into) whole = whole.#into;
    // The next look takes one step, however many blocks have become one.
    for (let block: Block = this; block.#into; ) {
      const into: Block = block.#into;
      if (into !== whole) block.#into = whole;
      block = into;
    }
    return whole;
  }

  /** Becomes a part of the block in front of it. */
  join(front: Block): void {
    this.#into = front;
    front.count += this.count;
    front.last = this.last;
  }
}
