import { type Cost, sameCost } from '../../limits/cost.ts';
import type { Grant } from '../store.ts';
import { commitAll } from './grant.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { fitAll } from './offer.ts';
import { closeLedger } from './openLedger.ts';

/**
 * Repetitions of a grant in the same millisecond: they are only counted, and committed together before the ledger is used in
 * another way. In every kind of limit, `k` commits of `n` permits at one instant have the effect of one commit of `k · n`.
 */
export class Repeats {
  #left: number;
  readonly #most: number;
  /** The bounds between which the instant is the same, both excluded, in microseconds. */
  readonly #after: number;
  readonly #before: number;

  /** `of` is the ledger that has made the grant. */
  constructor(
    readonly of: unknown,
    readonly state: LedgerState,
    readonly instant: Instant,
    us: number,
    readonly grant: Grant,
  ) {
    const { now, at } = instant;
    this.#after = now === at ? us - 1 : Math.floor(us / 1000) * 1000;
    this.#before = now === at ? us + 1 : Math.ceil(us / 1000) * 1000;
    this.#most = this.#left = fitAll(state, now, now, grant.cost, Infinity);
  }

  /** Takes the same cost again if there are enough permits. Returns whether it did. */
  take(us: number, cost: Cost): boolean {
    if (us <= this.#after || us >= this.#before || this.#left < 1 || !sameCost(cost, this.grant.cost))
      return false;
    this.#left--;
    return true;
  }

  /** Commits the repetitions. */
  settle(): void {
    const count = this.#most - this.#left;
    if (count === 0) return;
    const { state, instant, grant } = this;
    commitAll(state, instant.now, instant.at, grant.cost, count);
    closeLedger(state, instant);
  }
}
