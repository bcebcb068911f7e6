const smallest = 16;

/** A queue of values in one array that wraps around: eight bytes a value, and none once it is empty. */
export class Ring<T> {
  #slots: (T | undefined)[] = new Array(smallest);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: T): void {
    if (this.#length === this.#slots.length) this.#grow();
    // The number of slots is a power of two.
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = value;
    this.#length++;
  }

  /** The first value; the ring must hold one. */
  peek(): T {
    return this.#slots[this.#head] as T;
  }

  /** Takes the first value; the ring must hold one. */
  shift(): T {
    const value = this.#slots[this.#head] as T;
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    if (this.#length === 0 && this.#slots.length > smallest) this.clear();
    return value;
  }

  /** Takes the last value; the ring must hold one. */
  pop(): T {
    const last = (this.#head + --this.#length) & (this.#slots.length - 1);
    const value = this.#slots[last] as T;
    this.#slots[last] = undefined;
    return value;
  }

  clear(): void {
    this.#slots = new Array(smallest);
    this.#head = 0;
    this.#length = 0;
  }

  #grow(): void {
    const { length } = this.#slots;
    const slots = new Array<T | undefined>(length * 2);
    for (let i = 0; i < length; i++) slots[i] = this.#slots[(this.#head + i) & (length - 1)];
    this.#slots = slots;
    this.#head = 0;
  }
}
