import type { Cost } from '../limits/cost.ts';
import { capacityOf } from '../limits/limit.ts';
import { isSlow, loadOf } from '../limits/load.ts';
import type { Ledger } from '../stores/store.ts';

/** The least horizon: milliseconds. */
const leastHorizon = 20;
/** The horizon in round trips. */
const tripsAhead = 4;
/** The longest horizon, in milliseconds: reservations within two seconds cannot be made void for others. */
const longestHorizon = 1_000;
/** The horizon depends on the median of so many round trips, so that a single one with a blocked event loop has no effect. */
const medianOf = 5;
/** The usual round trip is no longer than so many times that median. */
const mostOfMedian = 2;
/**
 * The part of an interval's permits, or of a larger burst, that a client without contenders may always ask for in one call, so that
 * clients that start together share them. Once it was granted as much at once, it may ask for all of them for requests with a
 * timeout: these would be refused although all permits are free, as a burst takes 16 calls.
 */
const batchFraction = 0.0625;
/**
 * Beside clients with large requests or long horizons, a client may reserve further ahead than its part of its own. This applies
 * to at most so many requests of a call, and only while fewer than so many are reserved, because the store computes a moment for
 * each.
 */
const mostAtOnce = 64;
const mostReserved = 4096;
/** A client that takes turns asks for at most so many requests at once: those that are not granted stay in its queue. */
const mostInTurn = 4096;
/** Requests that cost at least this part of a limit are large: few of them fit. */
const largePart = 0.125;
/** Requests by which a sum of fractions may be rounded. */
const tolerance = 1e-6;
/** The weight of the previous mean in the mean round trip. */
const memory = 0.8;

/**
 * How far ahead a client may reserve: its fair share of the horizon, in milliseconds of the limit's full rate.
 *
 * A request of `n` permits takes `n · interval / permits` ms of the slowest limit, so that one number serves a record.
 */
export class FairShare {
  readonly #ledger: Pick<Ledger, 'limits'>;
  /** Number of contenders, by the last reply. */
  contenders = 1;
  /**
   * How far ahead each contender may reserve, if others have larger requests or longer horizons: milliseconds, or 0 if its own
   * horizon decides.
   */
  raised = 0;
  /** Whether the contenders take turns to share the permits that come back, by the last reply. Each calls rarely then. */
  takesTurns = false;
  /** The mean round trip: milliseconds. */
  roundTrip = 0;
  /** The same, but no more than twice the median of the last ones: one that was delayed for seconds does not count. */
  usualTrip = 0;
  /** How far ahead a client without contenders reserves: milliseconds. */
  horizon = leastHorizon;
  /** The last round trips, the newest last. */
  readonly #recent: number[] = [];

  constructor(ledger: Pick<Ledger, 'limits'>) {
    this.#ledger = ledger;
  }

  /** Whether a limit is a window. A refund to a bucket is already available to the reservations after it. */
  get hasWindow(): boolean {
    return this.#ledger.limits.some(({ kind }) => kind !== 'tokenBucket');
  }

  /** Whether so few reservations are left that it is time to call again, for a request of a load. */
  isLow(held: number, reserved: number, load: number): boolean {
    const part = this.horizon / this.contenders;
    const most = Math.max(part, reserved < mostReserved ? this.raised : 0);
    // The store reserves as many requests as come nearest to that.
    return held + Math.max(part, Math.min(load, most)) / 2 <= most;
  }

  /** Milliseconds of the full rate that one request takes. */
  loadOf(cost: Cost): number {
    return loadOf(this.#ledger, cost);
  }

  /** Whether permits of such a request must not wait for the client's turn when they come back. */
  isSlow(cost: Cost): boolean {
    return isSlow(this.#ledger, this.loadOf(cost));
  }

  /** The part of a limit's permits, or of a larger burst, that one request takes; of several limits, the largest part. */
  fractionOf(cost: Cost): number {
    const { limits } = this.#ledger;
    let part = 0;
    for (let i = 0; i < cost.length; i++)
      part = Math.max(part, cost[i] / Math.max(limits[i].permits, capacityOf(limits[i])));
    return part;
  }

  /** Whether so few requests of a cost fit in a sliding window that permits which come back should not wait for a turn. */
  isLarge(cost: Cost): boolean {
    return (
      this.fractionOf(cost) >= largePart && this.#ledger.limits.some(({ kind }) => kind === 'slidingWindow')
    );
  }

  /**
   * How many more requests of a cost fit in a call of this load and fraction; 0 if it is full. `isFree` tells whether it may ask for
   * a whole interval's permits.
   */
  room(cost: Cost, load: number, part: number, isFree = false): number {
    const own = this.loadOf(cost);
    const most = Math.max((2 * this.horizon) / this.contenders, Math.min(this.raised, mostAtOnce * own));
    const byTime = (most - load) / own;
    const fraction = this.fractionOf(cost);
    const batch = isFree ? 1 : batchFraction / this.contenders;
    const mostPart = this.takesTurns
      ? Math.max(batch, Math.min(1 / this.contenders, mostInTurn * fraction))
      : batch;
    const byPart = (mostPart - part) / fraction;
    // A sum of many fractions is rounded.
    return Math.max(0, Math.ceil(byTime), Math.ceil(byPart - tolerance));
  }

  /** Milliseconds in which a client's calls take all permits of a window, once they are free. */
  get fillTime(): number {
    return this.horizon + (this.contenders * this.roundTrip) / batchFraction;
  }

  measure(roundTrip: number): void {
    this.roundTrip = this.roundTrip === 0 ? roundTrip : memory * this.roundTrip + (1 - memory) * roundTrip;
    this.#recent.push(roundTrip);
    if (this.#recent.length > medianOf) this.#recent.shift();
    const median = this.#median;
    this.usualTrip = Math.min(this.roundTrip, mostOfMedian * median);
    this.horizon = Math.min(longestHorizon, Math.max(leastHorizon, tripsAhead * median));
  }

  get #median(): number {
    // Without `sort`: this is done for each reply.
    const sorted: number[] = [];
    for (const trip of this.#recent) {
      let i = sorted.length;
      for (; i > 0 && sorted[i - 1] > trip; i--) sorted[i] = sorted[i - 1];
      sorted[i] = trip;
    }
    return sorted[(sorted.length - 1) >> 1];
  }
}
