/** Milliseconds after which a measurement counts no more, at most twice as many: clocks drift apart. */
const lasts = 5_000;

/**
 * What the store's clock reads, by the line's own: the least that the two were ever apart when a reply came, which is never
 * less than they are. So a reply that was read late does not make its moments late.
 */
export class Transit {
  #epoch = 0;
  #least = Infinity;
  #before = Infinity;
  #since = 0;

  /** The least that the line's clock was ahead of the store's, whichever way; Infinity where nothing is known of an epoch. */
  leastAhead(epoch: number): number {
    return epoch === this.#epoch ? Math.min(this.#least, this.#before) : Infinity;
  }

  /** A reply of an epoch said `now`, and was received at a time by the line's clock. */
  measured(epoch: number, now: number, received: number): void {
    if (epoch !== this.#epoch || received >= this.#since + lasts) {
      this.#before = epoch === this.#epoch ? this.#least : Infinity;
      this.#least = Infinity;
      this.#epoch = epoch;
      this.#since = received;
    }
    this.#least = Math.min(this.#least, received - now);
  }
}
