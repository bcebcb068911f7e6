import type { Ledger, Refund } from '../stores/store.ts';
import { sameCost } from './entry.ts';
import type { Grant } from './line.ts';

/** At most so many refunds go into a call: each costs the script its arguments. */
const mostRefunds = 512;

/** What is given back: collected, and sent in batches, one call at a time, so that their sequence is their order. */
export class Refunds {
  readonly #ledger: Ledger;
  readonly #collected: Refund[] = [];
  readonly #settled: (() => void)[] = [];
  #sequence = 0;
  #underWay = false;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Whether nothing is collected or under way. */
  get idle(): boolean {
    return !this.#underWay && this.#collected.length === 0;
  }

  /** Collects what `count` requests of a grant were charged; `settled` is called once the store has answered, or cannot. */
  add(grant: Grant, count: number, settled?: () => void): void {
    const { moment, epoch, cost } = grant;
    const last = this.#collected[this.#collected.length - 1];
    if (last && last.moment === moment && last.epoch === epoch && sameCost(last.cost, cost))
      last.count += count;
    else this.#collected.push({ moment, epoch, cost, count });
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
    this.#ledger.refund(batch, ++this.#sequence, () => {
      this.#underWay = false;
      for (const tell of settled) tell();
      done();
    });
  }
}
