import { type Cost, sameCost } from '../../limits/cost.ts';
import { algebraOf } from '../../limits/states.ts';
import type { Grant } from '../store.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { closeLedger } from './openLedger.ts';

/**
 * Repetitions of a grant in the same millisecond: they are only counted, and committed together before the ledger is used in
 * another way. For all limits, `k` commits of `n` permits at one instant are one commit of `k · n`.
 */
export class Repeats {
  #left: number;
  readonly #most: number;
  /** The times between which the instant is the same, in microseconds. */
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
    let most = Infinity;
    grant.cost.forEach((n, i) => {
      const limit = state.limits[i];
      if (n > 0) most = Math.min(most, algebraOf(limit).fit(limit, now, now, n));
    });
    this.#most = this.#left = most;
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
    const { now, at } = instant;
    grant.cost.forEach((n, i) => {
      if (n > 0) algebraOf(state.limits[i]).commit(state.limits[i], now, at, n * count);
    });
    closeLedger(state, instant);
  }
}
