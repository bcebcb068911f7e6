/** Prefetched permits are to last at least so many milliseconds. */
const leastTime = 40;
/** Prefetched permits are to last at least so many round trips. */
const leastTrips = 8;
/** The longest round trip in milliseconds: if even the quickest permit takes longer, the limit delays it. */
const longestTrip = 100;
/** After an overflow of the queue, the maximum grows by this much with each used permit. */
const recovery = 1 / 32;
/** The maximum: in a call for so many permits, the time of the round trip is negligible. */
const maxCount = 1024;

/**
 * How many permits one subscription requests ahead: as many as are granted in a few round trips. More would not arrive
 * sooner, and would delay other requests.
 *
 * The count is computed from the measured rate: a permit that was requested at position n, and used after w ms, shows that
 * n permits are granted in w ms. Adjusting the count up or down by whether a permit was late would oscillate, because the
 * wait of a permit reflects an earlier count.
 */
export class PrefetchSize {
  /** The number of permits to request at a time. */
  count = 1;
  #maxCount = maxCount;
  #trip = longestTrip;

  /**
   * Records a permit whose value arrived without delay.
   *
   * @param waited milliseconds between the request and the use of the permit
   * @param position the position of the request among those of the subscription when it was made, counted from 1
   * @param maxAge milliseconds that a granted permit may wait for its value
   */
  used(waited: number, position: number, maxAge = Infinity): void {
    this.#trip = Math.min(this.#trip, waited);
    // After its round trip, a permit may wait for its value: half of `maxAge` leaves room for uneven values.
    const time = Math.min(Math.max(leastTime, leastTrips * this.#trip), this.#trip + maxAge / 2);
    const sufficient = Math.max(1, Math.floor((position * time) / waited));
    this.#maxCount = Math.min(maxCount, this.#maxCount + recovery);
    // One more for each value doubles the count with each round trip.
    this.count = Math.min(this.count + 1, sufficient, Math.floor(this.#maxCount));
  }

  /** The queue accepted only `count` requests: half of them leave room for others. */
  overflowed(count: number): void {
    this.#maxCount = Math.max(1, Math.floor(count / 2));
    this.count = Math.min(this.count, Math.floor(this.#maxCount));
  }

  /** Goes back to one permit at a time, since values arrive late or permits need no round trip. */
  restart(): void {
    this.count = 1;
  }
}
