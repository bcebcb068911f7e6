import type { Clock } from '../../clock.ts';
import { StoreUnavailableError } from '../../errors.ts';
import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import {
  type ControlledLedger,
  type DecideReply,
  type LastMoment,
  newestGrants,
  type PermitSource,
  type Rate,
  type RateChange,
  type Refund,
  type RefundReply,
  type Reply,
  type ReserveReply,
  type ReserveRequest,
} from '../store.ts';
import { CarriedPause } from './carriedPause.ts';
import { type FallbackCall, FallbackCalls, type FallbackParts } from './fallbackCalls.ts';

/** The ledger of one limiter: in Redis, or in the standby while Redis is unavailable. */
export class FallbackLedger implements ControlledLedger {
  readonly sync = false;
  readonly #parts: FallbackParts;
  readonly #clock: Clock;
  readonly #pause: CarriedPause;
  readonly #calls: FallbackCalls;
  /** The epoch in Redis, as far as it is known. */
  #epoch = 0;
  /** Whether the standby has reserved anything since Redis last did. */
  #hasReserved = false;

  constructor(parts: FallbackParts) {
    this.#parts = parts;
    this.#clock = parts.config.clock;
    this.#pause = new CarriedPause(this.#clock);
    this.#calls = new FallbackCalls(parts, this.#pause);
  }

  /** The source of the last reply. */
  get source(): PermitSource {
    return this.#calls.source;
  }

  get limits(): readonly Limit[] {
    return this.#parts.redis.limits;
  }

  get unlimited(): boolean {
    return this.source === 'fallback' && this.#parts.standby?.unlimited === true;
  }

  get isPaused(): boolean {
    return this.#pause.left > 0;
  }

  get mostRefundCalls(): number {
    return this.#parts.redis.mostRefundCalls;
  }

  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    const { redis } = this.#parts;
    const asked = this.#clock.now();
    const call: FallbackCall<ReserveReply> = {
      redis: (done) => redis.reserve({ ...request, epoch: this.#epoch }, done),
      standby: (standby, done) => {
        this.#hasReserved = true;
        standby.reserve(withTimePassed(request, this.#clock.now() - asked), done);
      },
      answered: (reserved) => this.#follow(reserved),
    };
    this.#calls.make(call, reply);
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    const { redis, standby, circuit } = this.#parts;
    const isLocal = refunds.map(({ source, moment }) =>
      moment === newestGrants ? circuit.isOpen : source === 'fallback',
    );
    const local = refunds.filter((_, i) => isLocal[i]);
    const remote = refunds.filter((_, i) => !isLocal[i]);
    let failure: Error | null = null;
    let here: RefundReply | undefined;
    if (local.length > 0 && standby)
      standby.refund(local, sequence, (error, restored) => {
        failure = error;
        here = restored;
      });
    else if (local.length > 0) failure = this.#calls.error;
    const done: Reply<RefundReply> = (error, there) => {
      // If Redis is unavailable, it receives its refunds later.
      failure ??= error instanceof StoreUnavailableError ? null : error;
      const next = { here: 0, there: 0 };
      const restored = isLocal.map(
        (isHere) => (isHere ? here?.restored?.[next.here++] : there?.restored?.[next.there++]) ?? true,
      );
      reply(failure, failure ? undefined : { restored });
    };
    if (remote.length === 0) done(null);
    else if (circuit.isOpen) {
      redis.refundQueue(0).add(remote);
      done(null);
    } else this.#calls.make({ redis: (reply) => redis.refund(remote, sequence, reply) }, done);
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    const { redis } = this.#parts;
    const call: FallbackCall<DecideReply> = {
      redis: (done) => redis.decide(cost, done, last),
      standby: (standby, done) => standby.decide(cost, done, last),
    };
    this.#calls.make(call, reply);
  }

  peek(reply: Reply<number[]>): void {
    const { redis } = this.#parts;
    this.#calls.make(
      { redis: (done) => redis.peek(done), standby: (standby, done) => standby.peek(done) },
      reply,
    );
  }

  setRate(change: RateChange, reply: Reply<boolean>): void {
    this.#calls.make({ redis: (done) => this.#parts.redis.setRate(change, done) }, reply);
  }

  getRate(reply: Reply<Rate>): void {
    this.#calls.make({ redis: (done) => this.#parts.redis.getRate(done) }, reply);
  }

  pause(ms: number, reply: Reply<number>): void {
    const call: FallbackCall<number> = {
      redis: (done) => this.#parts.redis.pause(ms, done),
      standby: (standby, done) =>
        standby.pause(ms, (error, lasts = 0) => {
          if (!error) {
            this.#pause.set(lasts, 'standby');
            this.#awaitRedis();
          }
          done(error, lasts);
        }),
      answered: (lasts) => this.#pause.set(lasts, 'redis'),
    };
    this.#calls.make(call, reply);
  }

  forget(what: { rate: boolean }, reply: Reply<void>): void {
    const call: FallbackCall<void> = {
      redis: (done) => this.#parts.redis.forget(what, done),
      answered: () => this.#pause.set(0, 'redis'),
    };
    this.#calls.make(call, reply);
  }

  /** Sends the pause to Redis when that is available again. */
  #awaitRedis(): void {
    this.#parts.recovery.await(this.#sendPause, () => this.#pause.isToBeSent);
  }

  readonly #sendPause = (): void => {
    if (!this.#pause.isToBeSent) return;
    this.#parts.redis.pause(this.#pause.left, (error, lasts = 0) => {
      if (!error) this.#pause.set(lasts, 'redis');
      else if (error instanceof StoreUnavailableError) this.#awaitRedis();
    });
  };

  /** Follows a reply from Redis. */
  #follow(reply: ReserveReply): void {
    this.#epoch = reply.epoch;
    // Voids the reservations of the standby: they are made again in Redis, where the fleet shares the limit.
    if (this.#hasReserved) reply.voidAfter = 0;
    this.#hasReserved = false;
    const paused = this.#pause.after(reply.paused ?? 0);
    if (paused > 0) reply.paused = paused;
  }
}

/** The same request when `passed` milliseconds of its longest waits are over. */
function withTimePassed(request: ReserveRequest, passed: number): ReserveRequest {
  const shorter = (ms: number) => (ms === 0 ? 0 : Math.max(1, ms - passed));
  return { ...request, runs: request.runs.map((run) => ({ ...run, maxWait: shorter(run.maxWait) })) };
}
