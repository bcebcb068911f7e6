import { Chain, type Link } from '../chain.ts';
import type { Line } from '../port/line.ts';

/** A value that waits for its permits. */
export interface Waiting<I, P> extends Link<I> {
  readonly line: Line<P>;
  /** Whether the value is known to have to wait, and so counts. */
  counts: boolean;
}

/**
 * The waiting values of a subscription.
 *
 * Only values that are known to have to wait count towards `maxQueue`. A value is undecided from its request to the first
 * reply of the store.
 */
export class Backlog<I extends Waiting<I, P>, P> {
  readonly #maxQueue: number;
  /** Values that count, in the order in which they were found to have to wait. Without `maxQueue`, all of them. */
  readonly #counted = new Chain<I>();
  readonly #undecided = new Map<Line<P>, Chain<I>>();
  /** How many values count. */
  #count = 0;

  constructor(maxQueue: number) {
    this.#maxQueue = maxQueue;
  }

  /** Whether there is no room for another value. */
  get isFull(): boolean {
    return this.#count >= this.#maxQueue;
  }

  /** Whether more values count than may wait. */
  get isOver(): boolean {
    return this.#count > this.#maxQueue;
  }

  /** The lines of all values. */
  get lines(): Set<Line<P>> {
    const lines = new Set(this.#undecided.keys());
    for (let item = this.#counted.first; item; item = item.next) lines.add(item.line);
    return lines;
  }

  /** Adds a value that is about to be requested. */
  add(item: I): void {
    const { line } = item;
    if (this.#maxQueue === Infinity || line.waits) {
      this.#addCounted(item);
      return;
    }
    const undecided = this.#undecided.get(line) ?? new Chain<I>();
    this.#undecided.set(line, undecided);
    undecided.add(item);
  }

  /** Counts all undecided values of a line: they are known to have to wait. */
  delayed(line: Line<P>): void {
    const undecided = this.#undecided.get(line);
    if (!undecided) return;
    this.#undecided.delete(line);
    while (undecided.first) {
      const item = undecided.first;
      undecided.remove(item);
      this.#addCounted(item);
    }
  }

  /** Counts the undecided values of lines whose store takes long to reply: of `line`, and of those with the oldest values. */
  countOverdue(line: Line<P>): void {
    if (line.waits) this.delayed(line);
    for (const asked of this.#undecided.keys()) {
      if (!asked.waits) return;
      this.delayed(asked);
    }
  }

  /** Removes a value that no longer waits. */
  remove(item: I): void {
    if (item.counts) {
      this.#count--;
      this.#counted.remove(item);
      return;
    }
    const undecided = this.#undecided.get(item.line)!;
    undecided.remove(item);
    if (!undecided.first) this.#undecided.delete(item.line);
  }

  /** The first value that counts; there must be one. */
  get oldest(): I {
    return this.#counted.first!;
  }

  /** The last value that counts; there must be one. */
  get newest(): I {
    return this.#counted.last!;
  }

  #addCounted(item: I): void {
    item.counts = true;
    this.#count++;
    this.#counted.add(item);
  }
}
