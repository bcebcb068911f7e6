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
import type { Circuit } from './circuit.ts';
import { Rejecting } from './rejecting.ts';

/** Serves in place of Redis: grants everything at once that the limits in force ever could; only a pause holds. */
export class Allowing extends Rejecting {
  readonly #inForce: () => readonly Limit[];
  readonly #clock: Clock;
  #pausedUntil = 0;

  constructor(name: string, circuit: Circuit, inForce: () => readonly Limit[], clock: Clock) {
    super(name, circuit);
    this.#inForce = inForce;
    this.#clock = clock;
  }

  override get limits(): readonly Limit[] {
    return this.#inForce();
  }

  override reserve({ runs }: ReserveRequest, reply: Reply<ReserveReply>): void {
    const paused = this.#paused;
    const segments = runs.map((run) => this.#answer(run, paused));
    const now = this.#clock.origin + this.#clock.now();
    const held = paused > 0 ? { paused, retryAfter: paused } : {};
    reply(null, { now, epoch: 0, contenders: 1, segments, ...held });
  }

  override refund(_refunds: readonly Refund[], _sequence: number, reply: Reply<RefundReply>): void {
    // Nothing was charged.
    reply(null);
  }

  override decide(cost: Cost, reply: Reply<DecideReply>): void {
    const retryAfter = exceeds(this.limits, cost) ? Infinity : this.#paused;
    const granted = retryAfter === 0;
    reply(null, { granted, available: this.#available, retryAfter, resetAfter: this.#paused });
  }

  override peek(reply: Reply<number[]>): void {
    reply(null, this.#available);
  }

  override pause(ms: number, reply: Reply<number>): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + ms);
    reply(null, this.#paused);
  }

  get #paused(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.now());
  }

  get #available(): number[] {
    return this.limits.map((limit) => (this.#paused > 0 ? 0 : capacityOf(limit)));
  }

  #answer({ count, cost, maxWait }: Run, paused: number): Segment {
    if (exceeds(this.limits, cost)) return { count, delay: outcome.exceedsLimit, retryAfter: Infinity };
    if (paused === 0) return { count, delay: 0, retryAfter: 0 };
    if (maxWait < paused) return { count, delay: outcome.refused, retryAfter: paused };
    return { count, delay: outcome.queued, retryAfter: 0 };
  }
}
