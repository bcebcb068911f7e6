import type { Cost } from '../limits/cost.ts';
import type { Ledger } from '../stores/store.ts';

/** The shortest time that a process books ahead: milliseconds. */
const leastHorizon = 20;
/** Round trips that the booked time must last for. */
const tripsAhead = 4;
/** The part of a window that a process without rivals asks for at once. */
const batchPart = 1 / 16;
/** How much of an older round trip the mean keeps. */
const memory = 0.8;

/**
 * How much of the near future a process may book: its fair share, measured in milliseconds of the limit's full rate.
 *
 * A request of `n` permits weighs `n · interval / permits` ms of the slowest limit, so that one number serves a record.
 */
export class FairShare {
  readonly #ledger: Pick<Ledger, 'limits'>;
  /** Clients that share the near future, as the last reply counted them. */
  contenders = 1;
  /** The mean round trip: milliseconds. */
  roundTrip = 0;

  constructor(ledger: Pick<Ledger, 'limits'>) {
    this.#ledger = ledger;
  }

  /** How far ahead the process would book if it were alone: milliseconds. */
  get horizon(): number {
    return Math.max(leastHorizon, tripsAhead * this.roundTrip);
  }

  /** The shortest interval of the limits: milliseconds. */
  get shortestInterval(): number {
    return Math.min(...this.#ledger.limits.map(({ interval }) => interval));
  }

  /** Whether each limit is a window: what comes back to a bucket counts for all that is booked after it. */
  get hasOnlyWindows(): boolean {
    return this.#ledger.limits.every(({ kind }) => kind !== 'tokenBucket');
  }

  /** Whether so little is left of what was booked that it is time to ask again. */
  isLow(held: number): boolean {
    return held <= this.horizon / this.contenders / 2;
  }

  /** Milliseconds of the full rate that one request takes. */
  loadOf(cost: Cost): number {
    const { limits } = this.#ledger;
    let load = 0;
    for (let i = 0; i < cost.length; i++)
      if (cost[i] > 0) load = Math.max(load, (cost[i] * limits[i].interval) / limits[i].permits);
    return load;
  }

  /** The part of the fullest limit's permits that one request takes. */
  fractionOf(cost: Cost): number {
    const { limits } = this.#ledger;
    let part = 0;
    for (let i = 0; i < cost.length; i++) part = Math.max(part, cost[i] / limits[i].permits);
    return part;
  }

  /** How many more requests of a cost go into a call that already asks for so much; 0 when it is full. */
  room(cost: Cost, load: number, part: number): number {
    const byTime = ((2 * this.horizon) / this.contenders - load) / this.loadOf(cost);
    const byPart = (batchPart / this.contenders - part) / this.fractionOf(cost);
    return Math.max(0, Math.ceil(byTime), Math.ceil(byPart));
  }

  measure(roundTrip: number): void {
    this.roundTrip = this.roundTrip === 0 ? roundTrip : memory * this.roundTrip + (1 - memory) * roundTrip;
  }
}
