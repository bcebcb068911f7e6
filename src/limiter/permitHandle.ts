import type { Cost, PermitSource } from '../stores/store.ts';
import type { NamedLimits } from './cost.ts';
import type { Grant } from './line.ts';
import { type Permit, unusedCost } from './permit.ts';

/** Gives a part of a grant back; resolves once the store has answered. */
export type GiveBack = (grant: Grant, cost: Cost) => Promise<void>;

/** A permit as the user holds it. */
export class PermitHandle<P> implements Permit<P> {
  readonly #grant: Grant;
  readonly #named: NamedLimits;
  readonly #giveBack: GiveBack;
  #refunded = false;
  readonly permits: P;
  readonly waited: number;
  readonly grantedAt: number;
  readonly source: PermitSource;

  constructor(grant: Grant, named: NamedLimits, permits: P, waited: number, giveBack: GiveBack) {
    this.#grant = grant;
    this.#named = named;
    this.#giveBack = giveBack;
    this.permits = permits;
    this.waited = waited;
    this.grantedAt = grant.moment;
    this.source = grant.source;
  }

  async refund(unused?: P): Promise<void> {
    const { names, record } = this.#named;
    const cost = unusedCost(names, record, this.#grant.cost, unused);
    if (this.#refunded) return;
    this.#refunded = true;
    if (cost.some((n) => n > 0)) await this.#giveBack(this.#grant, cost);
  }
}
