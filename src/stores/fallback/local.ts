import type { Clock } from '../../clock.ts';
import type { Cost } from '../../limits/cost.ts';
import { exceeds, type Limit } from '../../limits/limit.ts';
import {
  type ControlledLedger,
  type DecideReply,
  type LastMoment,
  type LedgerConfig,
  outcome,
  type Refund,
  type RefundReply,
  type Reply,
  type ReserveReply,
  type ReserveRequest,
  type Run,
  type Segment,
  type Store,
} from '../store.ts';
import type { Circuit } from './circuit.ts';
import type { Standby } from './fallbackCalls.ts';
import { scaledLimit } from './scaledLimit.ts';

/** The least and the most milliseconds after which a request that is larger than the scaled limits is tried again. */
const [leastRetry, mostRetry] = [20, 100];

/** A ledger in memory under the scaled limits, and the limits in force that they were scaled from. */
interface Scaled {
  inForce: readonly Limit[];
  limits: readonly Limit[];
  ledger: ControlledLedger;
}

/** The standby of the mode `'local'`: grants in this process, under the limits in force scaled by `ratio`. */
export class Local implements Standby {
  readonly #config: LedgerConfig;
  readonly #circuit: Circuit;
  readonly #memory: Store;
  readonly #inForce: () => readonly Limit[];
  readonly #ratio: number;
  readonly #clock: Clock;
  #lastScaled: Scaled | undefined;

  /** `inForce` returns the limits in force. */
  constructor(
    config: LedgerConfig,
    circuit: Circuit,
    memory: Store,
    inForce: () => readonly Limit[],
    ratio: number,
  ) {
    this.#config = { ...config, name: `redis_fallback:${config.name}` };
    this.#circuit = circuit;
    this.#memory = memory;
    this.#inForce = inForce;
    this.#ratio = ratio;
    this.#clock = config.clock;
  }

  /**
   * Reserves what the scaled limits allow. A request that is larger than they can ever grant waits for Redis, or until its
   * timeout, and so do the requests behind it.
   */
  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    const { runs } = request;
    const { limits, ledger } = this.#scaled;
    const large = runs.findIndex(({ cost }) => exceeds(limits, cost));
    const served = large < 0 ? runs : runs.slice(0, large);
    // With epoch 0, no reservation is reported as void: a change of this ledger does not affect those in Redis.
    const { last, ...rest } = { ...request, runs: served, epoch: 0, last: this.#byClock(request.last) };
    ledger.reserve(last ? { ...rest, last } : rest, (error, reserved) => {
      if (!reserved || large < 0) {
        reply(error, reserved);
        return;
      }
      const retryAfter = this.#retryAfter;
      const segments = [...reserved.segments, ...runs.slice(large).map((run) => this.#held(run, retryAfter))];
      reply(null, { ...reserved, segments, retryAfter });
    });
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    this.#scaled.ledger.refund(refunds, sequence, reply);
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    const { limits, ledger } = this.#scaled;
    const isLarge = exceeds(limits, cost) && !exceeds(this.#inForce(), cost);
    const retryAfter = isLarge ? this.#retryAfter : undefined;
    const decided: Reply<DecideReply> = (error, decision) => {
      reply(error, decision && { ...decision, retryAfter: retryAfter ?? decision.retryAfter });
    };
    ledger.decide(cost, decided, this.#byClock(last));
  }

  peek(reply: Reply<number[]>): void {
    this.#scaled.ledger.peek(reply);
  }

  pause(ms: number, reply: Reply<number>): void {
    this.#scaled.ledger.pause(ms, reply);
  }

  lift(): void {
    this.#scaled.ledger.forget({ rate: false }, () => {});
  }

  /** The ledger under the scaled limits that are in force now. */
  get #scaled(): Scaled {
    const inForce = this.#inForce();
    if (this.#lastScaled?.inForce === inForce) return this.#lastScaled;
    const limits = inForce.map((limit) => scaledLimit(limit, this.#ratio));
    // Permits granted under another rate continue to count: the store keeps one ledger for a name.
    this.#lastScaled = { inForce, limits, ledger: this.#memory.open({ ...this.#config, limits }) };
    return this.#lastScaled;
  }

  /** Milliseconds after which the requests that wait for Redis are tried again. */
  get #retryAfter(): number {
    const probe = this.#circuit.untilProbe(this.#clock.now());
    return Math.min(mostRetry, Math.max(leastRetry, probe));
  }

  /** The last reserved moment by this process's clock, which may differ from that of Redis. */
  #byClock(last: LastMoment | undefined): LastMoment | undefined {
    if (!last || last.source === 'fallback') return last;
    // With an infinite epoch, no change of the ledger here makes it void.
    return last.due === undefined
      ? undefined
      : { moment: Math.ceil(this.#clock.origin + last.due), epoch: Infinity };
  }

  #held({ count, cost, maxWait }: Run, retryAfter: number): Segment {
    if (exceeds(this.#inForce(), cost)) return { count, delay: outcome.exceedsLimit, retryAfter: Infinity };
    // A request never overtakes a waiting one, even if its permits are free.
    return maxWait === 0
      ? { count, delay: outcome.refused, retryAfter }
      : { count, delay: outcome.queued, retryAfter: 0 };
  }
}
