const smallest = 16;
/** V8 takes longer to allocate and to fill larger arrays. */
const largest = 4_096;

/**
 * A FIFO queue in arrays of up to 4,096 slots, so that no value is copied as the queue grows: eight bytes a value. A queue that
 * becomes empty drops an array that has grown.
 */
export class Ring<T> {
  /** The first value is in the first array, at `#head`; the next one will be in the last array, at `#tail`. */
  #arrays: (T | undefined)[][] = [];
  #last: (T | undefined)[] = [];
  #head = 0;
  #tail = 0;
  /** Number of values. */
  length = 0;

  push(value: T): void {
    if (this.#tail === this.#last.length) {
      this.#last = new Array(Math.min(largest, this.length + smallest));
      this.#arrays.push(this.#last);
      this.#tail = 0;
    }
    this.#last[this.#tail++] = value;
    this.length++;
  }

  /** Returns the first value; the ring must not be empty. */
  peek(): T {
    return this.#arrays[0][this.#head] as T;
  }

  /** Removes and returns the first value; the ring must not be empty. */
  shift(): T {
    const first = this.#arrays[0];
    const value = first[this.#head] as T;
    first[this.#head++] = undefined;
    this.length--;
    if (this.length === 0 && first.length > smallest) this.clear();
    else if (this.#head === first.length) {
      this.#arrays.shift();
      this.#head = 0;
    }
    return value;
  }

  clear(): void {
    this.#arrays = [];
    this.#last = [];
    this.#head = this.#tail = this.length = 0;
  }
}
