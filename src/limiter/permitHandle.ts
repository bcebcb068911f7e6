import type { Cost, NamedLimits } from '../limits/cost.ts';
import { unusedCost, usedCost } from '../limits/unused.ts';
import type { Grant } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import type { PermitSource } from '../stores/store.ts';

/** Refunds and charges grants; both promises resolve once the store has replied. */
export interface Settlement {
  readonly named: NamedLimits;
  /** Refunds a part of a grant. */
  refundPart(grant: Grant, cost: Cost): Promise<void>;
  /** Charges permits that were used beyond a grant. */
  charge(grant: Grant, cost: Cost): Promise<void>;
}

/** A permit as the user holds it. */
export class PermitHandle<P> implements Permit<P> {
  readonly #grant: Grant;
  readonly #settlement: Settlement;
  #isSettled = false;
  readonly permits: P;
  readonly waited: number;
  readonly grantedAt: number;
  readonly source: PermitSource;

  constructor(grant: Grant, permits: P, waited: number, settlement: Settlement) {
    this.#grant = grant;
    this.#settlement = settlement;
    this.permits = permits;
    this.waited = waited;
    this.grantedAt = grant.moment;
    this.source = grant.source;
  }

  async refund(unused?: P): Promise<void> {
    const { names, record } = this.#settlement.named;
    await this.end(unusedCost(names, record, this.#grant.cost, unused));
  }

  async settle(used: P): Promise<void> {
    const { names, record } = this.#settlement.named;
    const { cost } = this.#grant;
    const counted = usedCost(names, record, cost, used);
    await this.end(
      cost.map((n, i) => Math.max(0, n - counted[i])),
      cost.map((n, i) => Math.max(0, counted[i] - n)),
    );
  }

  /** Only the first call of `refund` or `settle` counts. */
  private async end(unused: Cost, excess: Cost = []): Promise<void> {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const isSome = (cost: Cost) => cost.some((n) => n > 0);
    await Promise.all([
      isSome(unused) && this.#settlement.refundPart(this.#grant, unused),
      isSome(excess) && this.#settlement.charge(this.#grant, excess),
    ]);
  }
}
