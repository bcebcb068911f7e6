import type { Clock } from '../../clock.ts';
import type { Cost } from '../../limits/cost.ts';
import { capacityOf, exceeds, type Limit } from '../../limits/limit.ts';
import {
  type DecideReply,
  outcome,
  type Refund,
  type RefundReply,
  type Reply,
  type ReserveReply,
  type ReserveRequest,
  type Run,
  type Segment,
} from '../store.ts';
import type { Standby } from './fallbackCalls.ts';

/** The standby of the mode `'allow'`: grants at once every request that the limits in force can ever grant, except in a pause. */
export class Allowing implements Standby {
  readonly unlimited = true;
  readonly #inForce: () => readonly Limit[];
  readonly #clock: Clock;
  #pausedUntil = 0;

  /** `inForce` returns the limits in force. */
  constructor(inForce: () => readonly Limit[], clock: Clock) {
    this.#inForce = inForce;
    this.#clock = clock;
  }

  reserve({ runs }: ReserveRequest, reply: Reply<ReserveReply>): void {
    const paused = this.#paused;
    const segments = runs.map((run) => this.#segmentOf(run, paused));
    const now = this.#clock.origin + this.#clock.now();
    const held = paused > 0 ? { paused, retryAfter: paused } : {};
    reply(null, { now, epoch: 0, contenders: 1, segments, ...held });
  }

  /** Does nothing: nothing was charged. */
  refund(_refunds: readonly Refund[], _sequence: number, reply: Reply<RefundReply>): void {
    reply(null);
  }

  decide(cost: Cost, reply: Reply<DecideReply>): void {
    const retryAfter = exceeds(this.#inForce(), cost) ? Infinity : this.#paused;
    const granted = retryAfter === 0;
    reply(null, { granted, available: this.#available, retryAfter, resetAfter: this.#paused });
  }

  peek(reply: Reply<number[]>): void {
    reply(null, this.#available);
  }

  pause(ms: number, reply: Reply<number>): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + ms);
    reply(null, this.#paused);
  }

  lift(): void {
    this.#pausedUntil = 0;
  }

  get #paused(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.now());
  }

  get #available(): number[] {
    return this.#inForce().map((limit) => (this.#paused > 0 ? 0 : capacityOf(limit)));
  }

  #segmentOf({ count, cost, maxWait }: Run, paused: number): Segment {
    if (exceeds(this.#inForce(), cost)) return { count, delay: outcome.exceedsLimit, retryAfter: Infinity };
    if (paused === 0) return { count, delay: 0, retryAfter: 0 };
    if (maxWait < paused) return { count, delay: outcome.refused, retryAfter: paused };
    return { count, delay: outcome.queued, retryAfter: 0 };
  }
}
