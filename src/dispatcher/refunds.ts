import type { Grant } from '../port/line.ts';
import type { Ledger, Refund, RefundReply } from '../stores/store.ts';

/** At most so many different refunds go into a call: each costs the script its arguments. */
const mostRefunds = 1024;

/** Called once the store has answered, perhaps with an error. */
export type Refunded = (error: Error | null) => void;

/** What goes into one call: refunds that are alike are one, and those who asked for them hear when it has been answered. */
interface Batch {
  refunds: Map<string, Refund>;
  settled: Refunded[];
}

/** What is given back: collected, and sent in batches, one call at a time, so that their sequence is their order. */
export class Refunds {
  readonly #ledger: Ledger;
  readonly #told: (batch: readonly Refund[], error: Error | null, reply: RefundReply | undefined) => void;
  /** Those that are full, and the one that is being filled. */
  readonly #collected: Batch[] = [];
  /** How often something was given back. */
  added = 0;
  #sequence = 0;
  #underWay = false;

  /** `told` hears of every batch that the store has answered. */
  constructor(
    ledger: Ledger,
    told: (batch: readonly Refund[], error: Error | null, reply: RefundReply | undefined) => void,
  ) {
    this.#ledger = ledger;
    this.#told = told;
  }

  /** Whether nothing is collected or under way. */
  get idle(): boolean {
    return !this.#underWay && this.#collected.length === 0;
  }

  /** Whether the store has a batch to answer: what is collected meanwhile is not sent before that. */
  get underWay(): boolean {
    return this.#underWay;
  }

  /** Collects what `count` requests of a grant were charged; `settled` is called once the store has answered, or cannot. */
  add({ moment, epoch, source, cost }: Grant, count: number, settled?: Refunded): void {
    this.added++;
    const key = `${moment} ${epoch} ${source} ${cost}`;
    let batch = this.#collected[this.#collected.length - 1];
    if (!batch || (batch.refunds.size === mostRefunds && !batch.refunds.has(key))) {
      batch = { refunds: new Map(), settled: [] };
      this.#collected.push(batch);
    }
    const same = batch.refunds.get(key);
    if (same) same.count += count;
    else batch.refunds.set(key, { moment, epoch, source, cost, count });
    if (settled) batch.settled.push(settled);
  }

  /** Sends what is collected, unless a batch is under way; `done` is called once the store has answered. */
  flush(done: () => void): void {
    if (this.#underWay) return;
    const batch = this.#collected.shift();
    if (!batch) return;
    const refunds = [...batch.refunds.values()];
    this.#underWay = true;
    // A refund that fails is lost, and so are its permits until the limit is full again: never too many are granted.
    this.#ledger.refund(refunds, ++this.#sequence, (error, reply) => {
      this.#underWay = false;
      for (const tell of batch.settled) tell(error);
      this.#told(refunds, error, reply);
      done();
    });
  }
}
