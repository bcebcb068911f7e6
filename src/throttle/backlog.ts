import { Heap, type Heaped } from '../heap.ts';
import type { Line } from '../port/line.ts';

/**
 * A value that waits for its permits. Of those that count, the one of the least rank is dropped first. Its index is -1 once it no
 * longer waits.
 */
export interface Waiting<P> extends Heaped {
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
export class Backlog<I extends Waiting<P>, P> {
  readonly #maxQueue: number;
  /** Values that count, in their order and not in that of the replies. Without `maxQueue`, all of them. */
  readonly #counted = new Heap<I>();
  readonly #undecided = new Map<Line<P>, Heap<I>>();

  constructor(maxQueue: number) {
    this.#maxQueue = maxQueue;
  }

  /** How many more values count than may wait; negative if there is room. */
  get excess(): number {
    return this.#counted.members.length - this.#maxQueue;
  }

  /** The lines of all values. */
  get lines(): Set<Line<P>> {
    const lines = new Set(this.#undecided.keys());
    for (const { line } of this.#counted.members) lines.add(line);
    return lines;
  }

  /** Adds a value that is about to be requested. */
  add(item: I): void {
    const { line } = item;
    if (this.#maxQueue === Infinity || line.waits) {
      this.#addCounted(item);
      return;
    }
    const undecided = this.#undecided.get(line) ?? new Heap();
    this.#undecided.set(line, undecided);
    undecided.add(item);
  }

  /** Counts all undecided values of a line: they are known to have to wait. */
  delayed(line: Line<P>): void {
    const undecided = this.#undecided.get(line);
    if (!undecided) return;
    this.#undecided.delete(line);
    for (const item of undecided.members) this.#addCounted(item);
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
    const undecided = item.counts ? undefined : this.#undecided.get(item.line);
    (undecided ?? this.#counted).remove(item);
    if (undecided?.members.length === 0) this.#undecided.delete(item.line);
  }

  /** The value that is dropped first; there must be one that counts. */
  get first(): I {
    return this.#counted.members[0];
  }

  #addCounted(item: I): void {
    item.counts = true;
    this.#counted.add(item);
  }
}
