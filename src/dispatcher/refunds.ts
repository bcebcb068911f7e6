import type { Grant } from '../port/line.ts';
import type { Ledger, Refund } from '../stores/store.ts';
import type { Reporter } from './reporter.ts';

/** The most different refunds of a call: each adds arguments to the script. */
const mostRefunds = 1024;

/** Called once the store has replied, with its error if there was one. */
export type OnRefunded = (error: Error | null) => void;

/** One call: equal refunds are merged. */
interface Batch {
  refunds: Map<string, Refund>;
  callbacks: OnRefunded[];
}

/** Collects refunds and sends them in batches, one call at a time, so that they arrive in the order of their numbers. */
export class Refunds {
  readonly #ledger: Ledger;
  readonly #reporter: Reporter;
  /** Full batches, and the one that is being filled. */
  readonly #batches: Batch[] = [];
  /** Increases whenever permits may have become available: with a refund, or a change of the limit. */
  version = 0;
  #sequence = 0;
  inFlight = false;

  constructor(ledger: Ledger, reporter: Reporter) {
    this.#ledger = ledger;
    this.#reporter = reporter;
  }

  /** Whether nothing is collected or in flight. */
  get idle(): boolean {
    return !this.inFlight && this.#batches.length === 0;
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

  /** Sends the next batch unless one is in flight. `done` is called once the store has replied. */
  flush(done: () => void): void {
    if (this.inFlight) return;
    const batch = this.#batches.shift();
    if (!batch) return;
    const refunds = [...batch.refunds.values()];
    this.inFlight = true;
    // A refund that fails is not sent again: its permits then count as used, but are never granted twice.
    this.#ledger.refund(refunds, ++this.#sequence, (error, reply) => {
      this.inFlight = false;
      for (const callback of batch.callbacks) callback(error);
      this.#reporter.refunded(refunds, error, reply);
      done();
    });
  }
}
