import type { Limit } from '../limits/limit.ts';
import type { LimiterEvents } from '../port/events.ts';
import { debt, type Ledger, type Refund, type RefundReply } from '../stores/store.ts';
import type { Reporter } from './reporter.ts';

/** Milliseconds by which one pause may seem to end later, or sooner, than another time. */
const samePause = 200;

/** What those who listen have been told of the fleet, so that they hear of each change once. */
export class FleetChanges {
  readonly #ledger: Ledger;
  readonly #events: LimiterEvents;
  readonly #reporter: Reporter;
  #limits: readonly Limit[];
  #pausedUntil = 0;

  constructor(ledger: Ledger, events: LimiterEvents, herald: Reporter) {
    this.#ledger = ledger;
    this.#events = events;
    this.#reporter = herald;
    this.#limits = ledger.limits;
  }

  /** Perhaps another limit is in force by now. */
  rate(): void {
    const { limits } = this.#ledger;
    const known = this.#limits;
    if (limits === known) return;
    this.#limits = limits;
    // Another client may have stored the same once more.
    if (JSON.stringify(limits) === JSON.stringify(known)) return;
    this.#reporter.rate(limits);
  }

  /** The fleet pauses from `now` on, for so many milliseconds. */
  pause(ms: number, now: number): void {
    const end = now + ms;
    if (Math.abs(end - this.#pausedUntil) > samePause) this.#reporter.paused(ms);
    this.#pausedUntil = end;
  }

  /** The next pause is another one. */
  lifted(): void {
    this.#pausedUntil = 0;
  }

  /** The store has answered, or not, what was given back. */
  gaveBack(batch: readonly Refund[], error: Error | null, reply?: RefundReply): void {
    if (error) this.#events.emitError(error);
    else
      batch.forEach(({ moment, cost, count }, i) => {
        const isGivenBack = moment !== debt && (reply?.restored?.[i] ?? true);
        if (isGivenBack) this.#reporter.refunded(cost, count);
      });
  }
}
