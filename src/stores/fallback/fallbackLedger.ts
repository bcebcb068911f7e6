import type { Clock } from '../../clock.ts';
import { StoreUnavailableError } from '../../errors.ts';
import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import type { Connection } from '../redis/connection.ts';
import type { TimedControlledLedger } from '../redis/timedLedger.ts';
import {
  type ControlledLedger,
  type DecideReply,
  type LastMoment,
  type Ledger,
  type LedgerConfig,
  type LimitControl,
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
import type { Circuit } from './circuit.ts';

/** What grants in this process while Redis is unavailable. It replies before a call returns. */
export type Standby = Pick<Ledger, 'reserve' | 'refund' | 'decide' | 'peek'> & Pick<LimitControl, 'pause'>;

/** What the ledger of one limiter is made of. */
export interface FallbackParts {
  config: LedgerConfig;
  redis: TimedControlledLedger;
  /** Without one, every call is rejected while Redis is unavailable. */
  standby: Standby | undefined;
  circuit: Circuit;
  connection: Connection;
}

/** One call, as Redis and the standby are asked. */
interface Call<T> {
  redis(reply: Reply<T>): void;
  /** Without it, only Redis can answer. */
  standby?(standby: Standby, reply: Reply<T>): void;
  /** Is called before the reply to a call that Redis has answered. */
  answered?(value: T): void;
}

/** The ledger of one limiter: in Redis, or in the standby while Redis is unavailable. Each call finds out. */
export class FallbackLedger implements ControlledLedger {
  readonly sync = false;
  readonly #parts: FallbackParts;
  readonly #clock: Clock;
  readonly #pause: CarriedPause;
  /** Whether the standby serves. */
  #isAway = false;
  #source: PermitSource = 'redis';
  /** The epoch in Redis, as far as it is known. */
  #epoch = 0;
  /** Whether the standby has reserved anything since Redis last did. */
  #hasReserved = false;

  constructor(parts: FallbackParts) {
    this.#parts = parts;
    this.#clock = parts.config.clock;
    this.#pause = new CarriedPause(this.#clock);
  }

  /** What gave the last reply. */
  get source(): PermitSource {
    return this.#source;
  }

  get limits(): readonly Limit[] {
    return this.#parts.redis.limits;
  }

  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    const { redis } = this.#parts;
    const asked = this.#clock.now();
    const call: Call<ReserveReply> = {
      redis: (done) => redis.reserve({ ...request, epoch: this.#epoch }, done),
      standby: (standby, done) => {
        this.#hasReserved = true;
        standby.reserve(withTimePassed(request, this.#clock.now() - asked), done);
      },
      answered: (reserved) => this.#follow(reserved),
    };
    this.#make(call, reply);
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    const { redis, standby, circuit } = this.#parts;
    const isLocal = ({ source, moment }: Refund) =>
      moment === newestGrants ? circuit.isOpen : source === 'fallback';
    const local = refunds.filter(isLocal);
    const remote = refunds.filter((refund) => !isLocal(refund));
    const isMixed = remote.length > 0;
    if (local.length > 0) {
      const done = isMixed ? () => {} : reply;
      if (standby) standby.refund(local, sequence, done);
      else done(this.#error);
    }
    if (!isMixed) return;
    if (circuit.isOpen) {
      redis.refunds.add(remote);
      reply(null);
      return;
    }
    const call: Call<RefundReply> = { redis: (done) => redis.refund(remote, sequence, done) };
    // Redis receives later what it could not take now.
    this.#make(call, (error, restored) =>
      reply(error instanceof StoreUnavailableError ? null : error, restored),
    );
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    const { redis } = this.#parts;
    const call: Call<DecideReply> = {
      redis: (done) => redis.decide(cost, done, last),
      standby: (standby, done) => standby.decide(cost, done, last),
    };
    this.#make(call, reply);
  }

  peek(reply: Reply<number[]>): void {
    const { redis } = this.#parts;
    this.#make({ redis: (done) => redis.peek(done), standby: (standby, done) => standby.peek(done) }, reply);
  }

  setRate(change: RateChange, reply: Reply<boolean>): void {
    this.#make({ redis: (done) => this.#parts.redis.setRate(change, done) }, reply);
  }

  getRate(reply: Reply<Rate>): void {
    this.#make({ redis: (done) => this.#parts.redis.getRate(done) }, reply);
  }

  pause(ms: number, reply: Reply<number>): void {
    const call: Call<number> = {
      redis: (done) => this.#parts.redis.pause(ms, done),
      standby: (standby, done) =>
        standby.pause(ms, (error, lasts = 0) => {
          if (!error) this.#pause.set(lasts, 'standby');
          done(error, lasts);
        }),
      answered: (lasts) => this.#pause.set(lasts, 'redis'),
    };
    this.#make(call, reply);
  }

  forget(what: { rate: boolean }, reply: Reply<void>): void {
    const call: Call<void> = {
      redis: (done) => this.#parts.redis.forget(what, done),
      answered: () => this.#pause.set(0, 'redis'),
    };
    this.#make(call, reply);
  }

  /** Makes a call of Redis or of the standby, as the circuit permits. */
  #make<T>(call: Call<T>, reply: Reply<T>): void {
    const { circuit, connection } = this.#parts;
    const permitted = circuit.permits(this.#clock.now(), connection.ready);
    if (permitted === 'call') this.#askRedis(call, reply);
    else if (permitted === 'probe') this.#probe(call, reply);
    else this.#askStandby(call, reply);
  }

  #askRedis<T>(call: Call<T>, reply: Reply<T>): void {
    const { redis, circuit, connection } = this.#parts;
    // The connection keeps the order: Redis receives the pause first.
    if (this.#isAway && connection.ready) this.#pause.toRedis(redis);
    call.redis((error, value) => {
      if (error instanceof StoreUnavailableError) {
        circuit.failed('call', error.cause, this.#clock.now());
        this.#askStandby(call, reply);
        return;
      }
      this.#source = 'redis';
      if (!circuit.isOpen) this.#recover();
      if (!error) call.answered?.(value as T);
      reply(error, value);
    });
  }

  /** Finds out whether Redis is available, by a call that charges nothing: it may be carried out late, or more than once. */
  #probe<T>(call: Call<T>, reply: Reply<T>): void {
    const { redis, circuit } = this.#parts;
    redis.peek((error) => {
      if (error instanceof StoreUnavailableError) {
        circuit.failed('probe', error.cause, this.#clock.now());
        this.#askStandby(call, reply);
      } else {
        circuit.close();
        this.#askRedis(call, reply);
      }
    });
  }

  #askStandby<T>(call: Call<T>, reply: Reply<T>): void {
    const { standby } = this.#parts;
    this.#source = 'fallback';
    this.#fallBack();
    if (standby && call.standby) call.standby(standby, reply);
    else reply(this.#error);
  }

  #fallBack(): void {
    const { config, standby } = this.#parts;
    if (this.#isAway) return;
    this.#isAway = true;
    if (standby) this.#pause.toStandby(standby);
    config.onServiceChange?.({ type: 'fallback', error: this.#error });
  }

  #recover(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#parts.config.onServiceChange?.({ type: 'recovered' });
  }

  get #error(): StoreUnavailableError {
    const { config, circuit } = this.#parts;
    return new StoreUnavailableError(config.name, circuit.cause);
  }

  /** Follows a reply from Redis. */
  #follow(reply: ReserveReply): void {
    this.#epoch = reply.epoch;
    // What the standby has reserved ahead is reserved again in Redis, which shares it with the fleet.
    if (this.#hasReserved) reply.voidAfter = 0;
    this.#hasReserved = false;
    const paused = this.#pause.after(reply.paused ?? 0);
    if (paused > 0) reply.paused = paused;
  }
}

/** A request after some milliseconds of its time have passed. */
function withTimePassed(request: ReserveRequest, passed: number): ReserveRequest {
  const shorter = (ms: number) => (ms === 0 ? 0 : Math.max(1, ms - passed));
  return { ...request, runs: request.runs.map((run) => ({ ...run, maxWait: shorter(run.maxWait) })) };
}
