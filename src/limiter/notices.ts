import type { Limit } from '../limits/limit.ts';
import { debt, type Ledger, type Refund, type RefundReply } from '../stores/store.ts';
import type { LimiterEvents } from './events.ts';
import type { Herald } from './herald.ts';

/** Milliseconds by which one pause may seem to end later, or sooner, than another time. */
const samePause = 200;

/** What those who listen have been told of the fleet, so that they hear of each change once. */
export class Notices {
  readonly #ledger: Ledger;
  readonly #events: LimiterEvents;
  readonly #herald: Herald;
  #limits: readonly Limit[];
  #pausedUntil = 0;

  constructor(ledger: Ledger, events: LimiterEvents, herald: Herald) {
    this.#ledger = ledger;
    this.#events = events;
    this.#herald = herald;
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
    this.#herald.rate(limits);
  }

  /** The fleet pauses from `now` on, for so many milliseconds. */
  pause(ms: number, now: number): void {
    const end = now + ms;
    if (Math.abs(end - this.#pausedUntil) > samePause) this.#herald.paused(ms);
    this.#pausedUntil = end;
  }

  /** The next pause is another one. */
  lifted(): void {
    this.#pausedUntil = 0;
  }

  /** The store has answered, or not, what was given back. */
  gaveBack(batch: readonly Refund[], error: Error | null, reply?: RefundReply): void {
    if (error) this.#events.failed(error);
    else
      batch.forEach(({ moment, cost, count }, i) => {
        const isGivenBack = moment !== debt && (reply?.restored?.[i] ?? true);
        if (isGivenBack) this.#herald.refunded(cost, count);
      });
  }
}
