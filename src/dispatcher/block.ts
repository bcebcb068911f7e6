import type { Link } from '../chain.ts';
import type { Cost } from '../limits/cost.ts';
import type { Reservation } from './reservation.ts';

/** Consecutive reservations of one cost: when one of their requests leaves, the last moment is left over. A union-find node. */
export class Block implements Link<Block> {
  previous: Block | undefined;
  next: Block | undefined;
  /** Number of moments. */
  count = 0;
  /** The last of its reservations. */
  last: Reservation | undefined;
  #parent: Block | undefined;

  constructor(readonly cost: Cost) {}

  /** The block that this one has been merged into, or itself. */
  get root(): Block {
    let root: Block = this;
    while (root.#parent) root = root.#parent;
    // Path compression.
    for (let block: Block = this; block.#parent; ) {
      const parent: Block = block.#parent;
      if (parent !== root) block.#parent = root;
      block = parent;
    }
    return root;
  }

  /** Becomes a part of the block in front of it. */
  mergeInto(front: Block): void {
    this.#parent = front;
    front.count += this.count;
    front.last = this.last;
  }
}
