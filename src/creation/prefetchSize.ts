/** Milliseconds that those asked ahead are to last at least: what the line itself asks for in one call. */
const leastTime = 40;
/** Round trips that they are to last at least. */
const leastTrips = 8;
/** Milliseconds that a round trip takes at most: where even the quickest permit takes longer, the limit makes it wait. */
const longestTrip = 100;
/** By so much more may be asked ahead with every permit that is used, after the line was full. */
const regained = 1 / 32;
/** More are never asked ahead: a call of so many spares them nearly all of its round trip. */
const most = 1024;

/**
 * How many permits one subscription asks for at once.
 *
 * As many as come in a few round trips: more would come no sooner, and only keep others from their turn. Each permit shows
 * how fast they come, for as many as stood up to its place came while it waited. That tells how many there should be; to
 * go by whether it waited too long, and ask for more or fewer, would swing to and fro, as its wait tells of the past.
 */
export class PrefetchSize {
  /** How many are asked for at once. */
  count = 1;
  #most = most;
  #trip = longestTrip;

  /**
   * A permit is used, whose value has come at once.
   *
   * @param waited milliseconds since it was asked for
   * @param place where it then stood among ours: the first is 1
   * @param maxAge milliseconds that it could have waited for its value, once it was there
   */
  used(waited: number, place: number, maxAge = Infinity): void {
    this.#trip = Math.min(this.#trip, waited);
    // They wait for their trip, and then for their values: for half of what they may, as values come unevenly.
    const time = Math.min(Math.max(leastTime, leastTrips * this.#trip), this.#trip + maxAge / 2);
    const lasting = Math.max(1, Math.floor((place * time) / waited));
    // With one more for every value it is twice as many with every round trip.
    // A line that was full once may have room by now.
    this.#most = Math.min(most, this.#most + regained);
    this.count = Math.min(this.count + 1, lasting, Math.floor(this.#most));
  }

  /** The line took no more than `count`: half of them leave room for others. */
  overflowed(count: number): void {
    this.#most = Math.max(1, Math.floor(count / 2));
    this.count = Math.min(this.count, Math.floor(this.#most));
  }

  /** Values do not come at once, or permits without a trip: it is one at a time again. */
  restart(): void {
    this.count = 1;
  }
}
