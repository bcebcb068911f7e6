import type { Line } from '../port/line.ts';
import { Ring } from '../ring.ts';

/** So many values that have gone may lie among those that wait, before anyone looks for them. */
const fewItems = 32;

/** A value that was asked for. */
export interface Waiting {
  readonly line: Pick<Line<never>, 'waits'>;
  state: 'waits' | 'done' | 'dropped';
  /** Whether it has to wait, as far as anyone knows. */
  known: boolean;
}

/**
 * The values of one subscription of which only so many may wait: those that are known to, in the order in which that turned
 * out, and those whose first answer is under way.
 */
export class Backlog<I extends Waiting> {
  readonly #known = new Ring<I>();
  /** For each line with such values: those not answered yet. */
  readonly #asked = new Map<I['line'], Ring<I>>();
  /** How many are known to wait. */
  count = 0;

  /** One more is to be asked for. */
  add(item: I): void {
    const { line } = item;
    if (line.waits) {
      this.#settle(item);
      return;
    }
    const asked = this.#asked.get(line) ?? new Ring<I>();
    this.#asked.set(line, asked);
    asked.push(item);
  }

  /** All that were asked of a line and are still there have to wait. */
  answered(line: I['line']): void {
    const asked = this.#asked.get(line);
    if (!asked) return;
    this.#asked.delete(line);
    while (asked.length > 0) {
      const item = asked.shift();
      if (item.state === 'waits') this.#settle(item);
    }
  }

  /** Counts what waits for a store that takes long to answer: the line that was asked first shows it first. */
  lookAgain(line: I['line']): void {
    if (line.waits) this.answered(line);
    for (const asked of this.#asked.keys()) {
      if (!asked.waits) return;
      this.answered(asked);
    }
  }

  /** One has gone. */
  left(item: I): void {
    if (item.known) {
      this.count--;
      this.#dropGone();
      return;
    }
    const asked = this.#asked.get(item.line);
    if (!asked) return;
    while (asked.length > 0 && asked.peek().state !== 'waits') asked.shift();
    if (asked.length === 0) this.#asked.delete(item.line);
  }

  /** The first that is known to wait; there must be one. */
  get oldest(): I {
    this.#dropGone();
    return this.#known.peek();
  }

  /** The last that is known to wait; there must be one. */
  get newest(): I {
    let item = this.#known.pop();
    while (item.state !== 'waits') item = this.#known.pop();
    this.#known.push(item);
    return item;
  }

  clear(): void {
    this.#known.clear();
    this.#asked.clear();
  }

  #settle(item: I): void {
    item.known = true;
    this.count++;
    this.#known.push(item);
  }

  #dropGone(): void {
    const items = this.#known;
    while (items.length > 0 && items.peek().state !== 'waits') items.shift();
    // Values of other keys may have passed one that waits for long: they are taken out when they are the most.
    if (items.length <= 2 * this.count + fewItems) return;
    for (let left = items.length; left > 0; left--) {
      const item = items.shift();
      if (item.state === 'waits') items.push(item);
    }
  }
}
