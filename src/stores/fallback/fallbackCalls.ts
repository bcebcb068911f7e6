import { StoreUnavailableError } from '../../errors.ts';
import { withoutStack } from '../../withoutStack.ts';
import type { WorkQueue } from '../../workQueue.ts';
import type { Connection } from '../redis/connection.ts';
import { errorOf, isRefusal } from '../redis/errors.ts';
import type { TimedControlledLedger } from '../redis/timedLedger.ts';
import type { Ledger, LedgerConfig, LimitControl, PermitSource, Reply } from '../store.ts';
import type { CarriedPause } from './carriedPause.ts';
import type { Circuit } from './circuit.ts';
import type { Recovery } from './recovery.ts';

/** Grants in this process while Redis is unavailable. It replies before a call returns. */
export type Standby = Pick<Ledger, 'unlimited' | 'reserve' | 'refund' | 'decide' | 'peek'> &
  Pick<LimitControl, 'pause'> & {
    /** Lifts a pause. Grants of an earlier outage may be forgotten with it. */
    lift(): void;
  };

/** The parts of the ledger of one limiter. */
export interface FallbackParts {
  config: LedgerConfig;
  redis: TimedControlledLedger;
  /** Without a standby, every call is rejected while Redis is unavailable. */
  standby: Standby | undefined;
  circuit: Circuit;
  recovery: Recovery;
  connection: Connection;
  /** Runs the calls to the standbys of all limiters of the store. */
  works: WorkQueue;
}

/** A call of a ledger: to Redis, or to the standby. */
export interface FallbackCall<T> {
  redis(reply: Reply<T>): void;
  /** Left out if only Redis can reply. */
  standby?(standby: Standby, reply: Reply<T>): void;
  /** Called before the reply to a call that Redis has answered. */
  answered?(value: T): void;
}

/** Makes the calls of one limiter: to Redis, or to the standby while Redis is unavailable. */
export class FallbackCalls {
  readonly #parts: FallbackParts;
  readonly #pause: CarriedPause;
  /** Whether the standby serves. */
  #isAway = false;
  /** The source of the last reply. */
  source: PermitSource = 'redis';

  constructor(parts: FallbackParts, pause: CarriedPause) {
    this.#parts = parts;
    this.#pause = pause;
  }

  /** Makes a call to Redis or to the standby, as the circuit permits. */
  make<T>(call: FallbackCall<T>, reply: Reply<T>): void {
    const { circuit, connection } = this.#parts;
    const permitted = circuit.permits(this.#parts.config.clock.now(), connection.ready);
    if (permitted === 'call') this.#askRedis(call, reply);
    else if (permitted === 'probe') this.#probe(call, reply);
    else this.#askStandby(call, reply);
  }

  #askRedis<T>(call: FallbackCall<T>, reply: Reply<T>): void {
    const { circuit } = this.#parts;
    call.redis((error, value) => {
      if (error instanceof StoreUnavailableError) {
        circuit.failed('call', error.cause, this.#parts.config.clock.now());
        this.#askStandby(call, reply);
        return;
      }
      this.source = 'redis';
      if (!circuit.isOpen) this.#recover();
      if (!error) call.answered?.(value as T);
      reply(error, value);
    });
  }

  /** Probes Redis with a call that charges nothing, since it may be carried out late, or more than once. */
  #probe<T>(call: FallbackCall<T>, reply: Reply<T>): void {
    const { redis, circuit } = this.#parts;
    redis.peek((error) => {
      if (error instanceof StoreUnavailableError) {
        circuit.failed('probe', error.cause, this.#parts.config.clock.now());
        this.#askStandby(call, reply);
      } else {
        circuit.close();
        this.#askRedis(call, reply);
      }
    });
  }

  /** Calls the standby at once, unless thousands of calls fail together. */
  #askStandby<T>(call: FallbackCall<T>, reply: Reply<T>): void {
    this.#parts.works.run(() => this.#standIn(call, reply));
  }

  #standIn<T>(call: FallbackCall<T>, reply: Reply<T>): void {
    const { standby, circuit } = this.#parts;
    // Redis refuses the connection, for example its password. A fallback would hide that.
    if (isRefusal(circuit.cause)) {
      reply(this.error);
      return;
    }
    this.source = 'fallback';
    this.#fallBack();
    if (standby && call.standby) call.standby(standby, reply);
    else reply(this.error);
  }

  #fallBack(): void {
    const { config, standby } = this.#parts;
    if (this.#isAway) return;
    this.#isAway = true;
    if (standby) this.#pause.toStandby(standby);
    // Thousands of keys fall back in one turn of the event loop.
    config.onServiceChange?.({ type: 'fallback', error: withoutStack(() => this.error) });
  }

  #recover(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#parts.config.onServiceChange?.({ type: 'recovered' });
  }

  /** The error of a call while Redis is unavailable. */
  get error(): Error {
    const { config, circuit } = this.#parts;
    return errorOf(config.name, circuit.cause, true);
  }
}
