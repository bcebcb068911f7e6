/** Milliseconds after which a measurement is dropped, or at most twice as many: clocks drift apart. */
const lifetime = 5_000;

/**
 * Estimates how far the monotonic clock is ahead of the store's: by the least difference at the arrival of a reply, which is
 * never less than the true one. A reply that is read late thus does not delay its moments.
 */
export class ClockOffset {
  #epoch = 0;
  #least = Infinity;
  #before = Infinity;
  #since = 0;

  /** The least difference in milliseconds, or Infinity if none was measured in this epoch. */
  least(epoch: number): number {
    return epoch === this.#epoch ? Math.min(this.#least, this.#before) : Infinity;
  }

  /** A reply said `now`, and was received at `received` by the monotonic clock. */
  measure(epoch: number, now: number, received: number): void {
    if (epoch !== this.#epoch || received >= this.#since + lifetime) {
      this.#before = epoch === this.#epoch ? this.#least : Infinity;
      this.#least = Infinity;
      this.#epoch = epoch;
      this.#since = received;
    }
    this.#least = Math.min(this.#least, received - now);
  }
}
