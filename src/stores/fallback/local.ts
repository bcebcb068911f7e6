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
import { Rejecting } from './rejecting.ts';
import { scaledLimit } from './scaledLimit.ts';

/** What is too much for this process alone is asked for so often: milliseconds. */
const [leastPause, mostPause] = [20, 100];

/** A ledger, under a part of limits. */
interface Open {
  inForce: readonly Limit[];
  limits: readonly Limit[];
  ledger: ControlledLedger;
}

/** Serves in place of Redis: grants in this process, from a part of the limits in force. */
export class Local extends Rejecting {
  readonly #config: LedgerConfig;
  readonly #circuit: Circuit;
  readonly #memory: Store;
  readonly #inForce: () => readonly Limit[];
  readonly #ratio: number;
  readonly #clock: Clock;
  #open: Open | undefined;

  /** `inForce` answers the limits of which `ratio` is granted here. */
  constructor(
    config: LedgerConfig,
    circuit: Circuit,
    memory: Store,
    inForce: () => readonly Limit[],
    ratio: number,
  ) {
    super(config.name, circuit);
    this.#config = { ...config, name: `redis_fallback:${config.name}` };
    this.#circuit = circuit;
    this.#memory = memory;
    this.#inForce = inForce;
    this.#ratio = ratio;
    this.#clock = config.clock;
  }

  override get limits(): readonly Limit[] {
    return this.#opened.limits;
  }

  /**
   * Books what can be had here. From the first request on that is too large for this process, all wait: for Redis, in
   * their order, or until their time is over.
   */
  override reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    const { runs } = request;
    const large = runs.findIndex(({ cost }) => exceeds(this.limits, cost));
    const served = large < 0 ? runs : runs.slice(0, large);
    // It knows no epoch: what Redis has booked stands, whatever becomes of the ledger here.
    const { last, ...rest } = { ...request, runs: served, epoch: 0, last: this.#byClock(request.last) };
    this.#opened.ledger.reserve(last ? { ...rest, last } : rest, (error, booked) => {
      if (!booked) {
        reply(error);
        return;
      }
      if (large < 0) {
        reply(null, booked);
        return;
      }
      const retryAfter = this.#pause;
      const segments = [...booked.segments, ...runs.slice(large).map((run) => this.#held(run, retryAfter))];
      reply(null, { ...booked, segments, retryAfter });
    });
  }

  override refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    this.#opened.ledger.refund(refunds, sequence, reply);
  }

  override decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    const retryAfter =
      exceeds(this.limits, cost) && !exceeds(this.#inForce(), cost) ? this.#pause : undefined;
    const decided: Reply<DecideReply> = (error, decision) => {
      reply(error, decision && { ...decision, retryAfter: retryAfter ?? decision.retryAfter });
    };
    this.#opened.ledger.decide(cost, decided, this.#byClock(last));
  }

  override peek(reply: Reply<number[]>): void {
    this.#opened.ledger.peek(reply);
  }

  override pause(ms: number, reply: Reply<number>): void {
    this.#opened.ledger.pause(ms, reply);
  }

  /** The ledger under its part of the limits that are in force by now. */
  get #opened(): Open {
    const inForce = this.#inForce();
    if (this.#open?.inForce === inForce) return this.#open;
    const limits = inForce.map((limit) => scaledLimit(limit, this.#ratio));
    // What was granted under another rate goes on counting: it is the same ledger in the store.
    this.#open = { inForce, limits, ledger: this.#memory.open({ ...this.#config, limits }) };
    return this.#open;
  }

  /** Milliseconds until those who wait for Redis are to ask again. */
  get #pause(): number {
    const probe = this.#circuit.untilProbe(this.#clock.now());
    return Math.min(mostPause, Math.max(leastPause, probe));
  }

  /** The last moment of the line by this process's clock: that of Redis may be another. */
  #byClock(last: LastMoment | undefined): LastMoment | undefined {
    if (!last || last.source === 'fallback') return last;
    // It stands, whatever becomes of the ledger here.
    return last.due === undefined
      ? undefined
      : { moment: Math.ceil(this.#clock.origin + last.due), epoch: Infinity };
  }

  #held({ count, cost, maxWait }: Run, retryAfter: number): Segment {
    if (exceeds(this.#inForce(), cost)) return { count, delay: outcome.exceedsLimit, retryAfter: Infinity };
    // Nobody passes those who wait, not even where it would be free.
    return maxWait === 0
      ? { count, delay: outcome.refused, retryAfter }
      : { count, delay: outcome.queued, retryAfter: 0 };
  }
}
