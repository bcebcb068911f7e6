import type { Clock } from '../clock.ts';
import type { Grant } from '../port/line.ts';
import type { Ledger, Refund } from '../stores/store.ts';
import type { FairShare } from './fairShare.ts';
import type { Reporter } from './reporter.ts';

/** The most different refunds of a call: each adds arguments to the script. */
const mostRefunds = 1024;

/** A call follows another in flight after no fewer milliseconds: they would carry few refunds each. */
const leastPause = 1;

/** Called once the store has replied, with its error if there was one. */
export type OnRefunded = (error: Error | null) => void;

/** One call: equal refunds are merged. */
interface Batch {
  refunds: Map<string, Refund>;
  callbacks: OnRefunded[];
}

/**
 * Collects refunds and sends them in batches.
 *
 * Over a long round trip, as many calls are in flight as the store allows, at an even pace, so that a refund waits for a part of
 * the round trip before it is sent. Over a short one, the next call waits for the reply.
 */
export class Refunds {
  readonly #ledger: Ledger;
  readonly #fairShare: FairShare;
  readonly #reporter: Reporter;
  readonly #clock: Clock;
  /** Full batches, and the one that is being filled. */
  readonly #batches: Batch[] = [];
  /** Increases whenever permits may have become available: with a refund, or a change of the limit. */
  version = 0;
  /** Number of calls sent. */
  #count = 0;
  /** The most calls in flight, and a bit for each that is: its number is the remainder of the call's sequence number. */
  readonly #most: number;
  #inFlight = 0;
  /** When the last call was sent, and how long the last one with a reply took. Before that, reserve calls tell. */
  #sentAt = 0;
  #roundTrip = 0;

  constructor(ledger: Ledger, fairShare: FairShare, reporter: Reporter, clock: Clock) {
    this.#ledger = ledger;
    this.#fairShare = fairShare;
    this.#most = ledger.mostRefundCalls ?? 1;
    this.#reporter = reporter;
    this.#clock = clock;
  }

  /** Whether nothing is collected or in flight. */
  get idle(): boolean {
    return this.#inFlight === 0 && this.#batches.length === 0;
  }

  /** Collects the refund of `count` requests of a grant. `done` is called once the store has replied. */
  add({ moment, epoch, source, cost }: Grant, count: number, done?: OnRefunded): void {
    this.version++;
    const key = `${moment} ${epoch} ${source} ${cost}`;
    let batch = this.#batches[this.#batches.length - 1];
    if (!batch || (batch.refunds.size === mostRefunds && !batch.refunds.has(key))) {
      batch = { refunds: new Map(), callbacks: [] };
      this.#batches.push(batch);
    }
    const same = batch.refunds.get(key);
    if (same) same.count += count;
    else batch.refunds.set(key, { moment, epoch, source, cost, count });
    if (done) batch.callbacks.push(done);
  }

  /** When the next call may be sent. Infinity if that depends on a reply. */
  get #nextAt(): number {
    if (this.#inFlight === 0) return 0;
    const pause = (this.#roundTrip || this.#fairShare.roundTrip) / this.#most;
    const isFull = this.#inFlight === 2 ** this.#most - 1;
    return isFull || pause < leastPause ? Infinity : this.#sentAt + pause;
  }

  /** Whether a refund that is added now is not sent at once, since others are in flight. */
  get mustWait(): boolean {
    return this.#nextAt > this.#clock.now();
  }

  /** When the collected refunds are to be sent although nothing happens until then. */
  get next(): number {
    return this.#batches.length > 0 ? this.#nextAt : Infinity;
  }

  /** Sends the next batch if it need not wait. `done` is called once the store has replied. */
  flush(done: () => void): void {
    if (this.#batches.length === 0 || this.mustWait) return;
    const batch = this.#batches.shift()!;
    const refunds = [...batch.refunds.values()];
    let remainder = 0;
    while (this.#inFlight & (1 << remainder)) remainder++;
    this.#inFlight |= 1 << remainder;
    const sent = this.#clock.now();
    this.#sentAt = sent;
    const sequence = ++this.#count * this.#most + remainder;
    // A refund that fails is not sent again: its permits then count as used, but are never granted twice.
    this.#ledger.refund(refunds, sequence, (error, reply) => {
      this.#inFlight &= ~(1 << remainder);
      this.#roundTrip = this.#clock.now() - sent;
      for (const callback of batch.callbacks) callback(error);
      this.#reporter.refunded(refunds, error, reply);
      done();
    });
  }
}
