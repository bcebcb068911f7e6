import type { Entry } from './entry.ts';

/** The entries that may run out of time, the next to do so first: a binary heap whose entries know their place in it. */
export class Deadlines {
  readonly #heap: Entry[] = [];

  /** When the next entry runs out of time, or Infinity. */
  get next(): number {
    return this.#heap.length > 0 ? this.#heap[0].expires : Infinity;
  }

  get first(): Entry | undefined {
    return this.#heap[0];
  }

  add(entry: Entry): void {
    this.#heap.push(entry);
    entry.place = this.#heap.length - 1;
    this.#rise(entry);
  }

  /** An entry runs out of time at another time than was taken. */
  move(entry: Entry, expires: number): void {
    const isThere = entry.place >= 0;
    if (isThere) this.remove(entry);
    entry.expires = expires;
    if (isThere) this.add(entry);
  }

  remove(entry: Entry): void {
    const { place } = entry;
    if (place < 0) return;
    entry.place = -1;
    const last = this.#heap.pop()!;
    if (last === entry) return;
    this.#put(last, place);
    this.#rise(last);
    this.#sink(last);
  }

  #put(entry: Entry, place: number): void {
    this.#heap[place] = entry;
    entry.place = place;
  }

  #rise(entry: Entry): void {
    while (entry.place > 0) {
      const { place } = entry;
      const parent = this.#heap[(place - 1) >> 1];
      if (parent.expires <= entry.expires) return;
      this.#put(entry, parent.place);
      this.#put(parent, place);
    }
  }

  #sink(entry: Entry): void {
    for (;;) {
      const { place } = entry;
      const left = 2 * place + 1;
      let least = left;
      if (left >= this.#heap.length) return;
      if (left + 1 < this.#heap.length && this.#heap[left + 1].expires < this.#heap[left].expires)
        least = left + 1;
      const child = this.#heap[least];
      if (child.expires >= entry.expires) return;
      this.#put(entry, child.place);
      this.#put(child, place);
    }
  }
}
