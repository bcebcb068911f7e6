const smallest = 16;

/** A FIFO queue in a circular array: eight bytes a value. A queue that becomes empty drops an array that has grown. */
export class Ring<T> {
  #slots: (T | undefined)[] = new Array(smallest);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: T): void {
    if (this.#length === this.#slots.length) this.#grow();
    // The mask works because the number of slots is a power of two.
    this.#slots[(this.#head + this.#length) & (this.#slots.length - 1)] = value;
    this.#length++;
  }

  /** Returns the first value; the ring must not be empty. */
  peek(): T {
    return this.#slots[this.#head] as T;
  }

  /** Removes and returns the first value; the ring must not be empty. */
  shift(): T {
    const value = this.#slots[this.#head] as T;
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#length--;
    if (this.#length === 0 && this.#slots.length > smallest) this.clear();
    return value;
  }

  /** Removes and returns the last value; the ring must not be empty. */
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
    // Both copied by V8 at once: most rings grow before a value has left them.
    if (this.#head > 0) this.#slots = this.#slots.slice(this.#head).concat(this.#slots.slice(0, this.#head));
    this.#slots.length = length * 2;
    this.#head = 0;
  }
}
