import { LimiterClosedError } from '../errors.ts';
import { type Cost, type NamedLimits, shownOf } from '../limits/cost.ts';
import type { Limit } from '../limits/limit.ts';
import type { LimiterEvents } from '../port/events.ts';
import type { Grant, Waiter } from '../port/line.ts';
import { type DecideReply, debt, type Ledger, type Refund, type RefundReply } from '../stores/store.ts';
import type { Request } from './request.ts';

/** Runs the waiters' callbacks, and emits the limiter's events. */
export class Reporter {
  readonly #named: NamedLimits;
  readonly #events: LimiterEvents;
  readonly #ledger: Ledger;

  constructor(named: NamedLimits, events: LimiterEvents, ledger: Ledger) {
    this.#named = named;
    this.#events = events;
    this.#ledger = ledger;
  }

  queued(cost: Cost): void {
    this.#each('queued', cost, 1);
  }

  granted(waiter: Waiter, grant: Grant, data: unknown): void {
    if (this.#events.observed) {
      const { cost, moment, source } = grant;
      this.#events.emit({ type: 'granted', permits: this.#permits(cost), grantedAt: moment, source });
    }
    waiter.granted(grant, data);
  }

  /** Denies one of the requests that `request` counts: that of `index`. */
  denied(request: Request, retryAfter: number | undefined, index = 0): void {
    const { waiter, cost, timeout } = request;
    if (this.#events.observed) {
      const type = timeout > 0 ? 'timeout' : 'denied';
      this.#events.emit({ type, permits: this.#permits(cost), retryAfter });
    }
    waiter.denied(retryAfter, request.dataOf(index));
  }

  failed(request: Request, error: Error, index = 0): void {
    this.#failed(request.cost, error);
    request.waiter.failed(error, request.dataOf(index));
  }

  decided(cost: Cost, error: Error | null, decision: DecideReply | undefined): void {
    if (error) this.#failed(cost, error);
    if (!decision || !this.#events.observed) return;
    const { granted, retryAfter } = decision;
    const permits = this.#permits(cost);
    if (!granted) this.#events.emit({ type: 'denied', permits, retryAfter });
    else this.#events.emit({ type: 'granted', permits, grantedAt: undefined, source: this.#ledger.source });
  }

  rate(limits: readonly Limit[]): void {
    if (this.#events.observed) this.#events.emit({ type: 'rate', limit: shownOf(this.#named, limits) });
  }

  paused(ms: number): void {
    if (this.#events.observed) this.#events.emit({ type: 'paused', ms });
  }

  cancelled(cost: Cost, count: number): void {
    this.#each('cancelled', cost, count);
  }

  /** Reports the result of a refund call. */
  refunded(refunds: readonly Refund[], error: Error | null, reply: RefundReply | undefined): void {
    if (error) this.#events.emitError(error);
    else
      refunds.forEach(({ moment, cost, count }, i) => {
        const isRestored = moment !== debt && (reply?.restored?.[i] ?? true);
        if (isRestored) this.#each('refunded', cost, count);
      });
  }

  #failed(cost: Cost, error: Error): void {
    if (error instanceof LimiterClosedError) this.cancelled(cost, 1);
    else this.#events.emitError(error);
  }

  #each(type: 'queued' | 'cancelled' | 'refunded', cost: Cost, count: number): void {
    for (let i = 0; i < count && this.#events.observed; i++)
      this.#events.emit({ type, permits: this.#permits(cost) });
  }

  #permits(cost: Cost) {
    return shownOf(this.#named, cost);
  }
}
