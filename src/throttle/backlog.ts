import type { Line } from '../port/line.ts';
import { Ring } from '../ring.ts';

/** The queue keeps up to this many values that have left, besides one for each value that waits. */
const maxLeft = 32;

/** A value that waits for its permits. */
export interface Waiting {
  readonly line: Pick<Line<never>, 'waits'>;
  state: 'waiting' | 'done' | 'dropped';
  /** Whether the value is known to have to wait, and so counts. */
  counts: boolean;
}

/**
 * The waiting values of a subscription with `maxQueue`.
 *
 * Only values that are known to have to wait count towards it. A value is undecided from its request to the first reply of
 * the store.
 */
export class Backlog<I extends Waiting> {
  /** Values that count, in the order in which they were found to have to wait. */
  readonly #counted = new Ring<I>();
  readonly #undecided = new Map<I['line'], Ring<I>>();
  /** How many values count. */
  count = 0;

  /** Adds a value that is about to be requested. */
  add(item: I): void {
    const { line } = item;
    if (line.waits) {
      this.#count(item);
      return;
    }
    const undecided = this.#undecided.get(line) ?? new Ring<I>();
    this.#undecided.set(line, undecided);
    undecided.push(item);
  }

  /** All undecided values of a line have to wait. */
  delayed(line: I['line']): void {
    const undecided = this.#undecided.get(line);
    if (!undecided) return;
    this.#undecided.delete(line);
    while (undecided.length > 0) {
      const item = undecided.shift();
      if (item.state === 'waiting') this.#count(item);
    }
  }

  /** Counts the undecided values of lines whose store takes long to reply: of `line`, and of those that asked first. */
  countOverdue(line: I['line']): void {
    if (line.waits) this.delayed(line);
    for (const asked of this.#undecided.keys()) {
      if (!asked.waits) return;
      this.delayed(asked);
    }
  }

  /** Removes a value whose state has changed. */
  remove(item: I): void {
    if (item.counts) {
      this.count--;
      this.#compact();
      return;
    }
    const undecided = this.#undecided.get(item.line);
    if (!undecided) return;
    while (undecided.length > 0 && undecided.peek().state !== 'waiting') undecided.shift();
    if (undecided.length === 0) this.#undecided.delete(item.line);
  }

  /** The first value that counts; there must be one. */
  get oldest(): I {
    this.#compact();
    return this.#counted.peek();
  }

  /** The last value that counts; there must be one. */
  get newest(): I {
    let item = this.#counted.pop();
    while (item.state !== 'waiting') item = this.#counted.pop();
    this.#counted.push(item);
    return item;
  }

  clear(): void {
    this.#counted.clear();
    this.#undecided.clear();
  }

  #count(item: I): void {
    item.counts = true;
    this.count++;
    this.#counted.push(item);
  }

  /** Drops values that have left: those at the front, and all of them once they outnumber the others. */
  #compact(): void {
    const items = this.#counted;
    while (items.length > 0 && items.peek().state !== 'waiting') items.shift();
    if (items.length <= 2 * this.count + maxLeft) return;
    for (let rest = items.length; rest > 0; rest--) {
      const item = items.shift();
      if (item.state === 'waiting') items.push(item);
    }
  }
}
