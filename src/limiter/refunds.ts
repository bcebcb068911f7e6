import type { Ledger, Refund, RefundReply } from '../stores/store.ts';
import { sameCost } from './entry.ts';
import type { Grant } from './line.ts';

/** At most so many refunds go into a call: each costs the script its arguments. */
const mostRefunds = 512;

/** Called once the store has answered, perhaps with an error. */
export type Settled = (error: Error | null) => void;

/** What is given back: collected, and sent in batches, one call at a time, so that their sequence is their order. */
export class Refunds {
  readonly #ledger: Ledger;
  readonly #told: (batch: readonly Refund[], error: Error | null, reply: RefundReply | undefined) => void;
  readonly #collected: Refund[] = [];
  readonly #settled: Settled[] = [];
  #failure: Error | null = null;
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

  /** Collects what `count` requests of a grant were charged; `settled` is called once the store has answered, or cannot. */
  add({ moment, epoch, source, cost }: Grant, count: number, settled?: Settled): void {
    const last = this.#collected[this.#collected.length - 1];
    const same = last && last.moment === moment && last.epoch === epoch && last.source === source;
    if (same && sameCost(last.cost, cost)) last.count += count;
    else this.#collected.push({ moment, epoch, source, cost, count });
    if (settled) this.#settled.push(settled);
  }

  /** Sends what is collected, unless a batch is under way; `done` is called once the store has answered. */
  flush(done: () => void): void {
    if (this.#underWay || this.#collected.length === 0) return;
    const batch = this.#collected.splice(0, mostRefunds);
    // Who waits hears of it with the last of what was collected.
    const settled = this.#collected.length === 0 ? this.#settled.splice(0) : [];
    this.#underWay = true;
    // A refund that fails is lost, and so are its permits until the limit is full again: never too many are granted.
    this.#ledger.refund(batch, ++this.#sequence, (error, reply) => {
      this.#underWay = false;
      const failure = this.#failure ?? error;
      this.#failure = settled.length > 0 || this.#settled.length === 0 ? null : failure;
      for (const tell of settled) tell(failure);
      this.#told(batch, error, reply);
      done();
    });
  }
}
