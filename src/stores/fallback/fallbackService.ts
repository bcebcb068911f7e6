import { StoreUnavailableError } from '../../errors.ts';
import type { ControlledLedger, LedgerConfig, PermitSource, Reply } from '../store.ts';
import type { Circuit } from './circuit.ts';
import { timedCall, type Way } from './timedCall.ts';

/** One operation of a limiter, for whoever serves. */
export interface Operation<T> {
  redis(reply: Reply<T>): void;
  fallback(reply: Reply<T>): void;
  /** Called before the reply, where Redis has answered in time. */
  answered?(value: T): void;
  /** Called where Redis has answered, and the fallback had taken its place by then. */
  late?(value: T): void;
}

/** Who serves one limiter: Redis, or the fallback while Redis is away. Each operation finds out. */
export class FallbackService {
  readonly #config: LedgerConfig;
  readonly #circuit: Circuit;
  readonly #way: Way;
  readonly #redis: ControlledLedger;
  readonly #fallback: ControlledLedger;
  #away = false;
  #source: PermitSource = 'redis';
  #pausedUntil = 0;
  #pausedHere = false;

  constructor(
    config: LedgerConfig,
    circuit: Circuit,
    way: Way,
    ledgers: { redis: ControlledLedger; fallback: ControlledLedger },
  ) {
    this.#config = config;
    this.#circuit = circuit;
    this.#way = way;
    this.#redis = ledgers.redis;
    this.#fallback = ledgers.fallback;
  }

  /** Who gave the last reply. */
  get source(): PermitSource {
    return this.#source;
  }

  perform<T>(operation: Operation<T>, reply: Reply<T>): void {
    const { clock, connection } = this.#way;
    const pass = this.#circuit.pass(clock.now(), connection.ready);
    if (pass === 'call') this.#ask(operation, reply);
    else if (pass === 'probe') this.#probe(operation, reply);
    else this.#stay(operation, reply);
  }

  /** Asks Redis, and the fallback where Redis cannot be reached. */
  #ask<T>(operation: Operation<T>, reply: Reply<T>): void {
    const { redis, answered, late = () => {} } = operation;
    const ended: Reply<T> = (error, value) => {
      if (error instanceof StoreUnavailableError) {
        this.#circuit.failed('call', error.cause, this.#way.clock.now());
        this.#stay(operation, reply);
        return;
      }
      this.#source = 'redis';
      if (this.#circuit.serves) this.#return();
      if (!error) answered?.(value as T);
      reply(error, value);
    };
    this.#handPauseOn();
    timedCall(this.#way, redis, ended, late);
  }

  /** Redis hears of a pause that was made here before it is asked for anything: the connection keeps the order. */
  #handPauseOn(): void {
    const paused = this.#paused;
    if (this.#away && this.#pausedHere && paused > 0 && this.#way.connection.ready)
      this.#redis.pause(paused, () => {});
  }

  /** Finds out whether Redis is back. What is asked for that charges nothing: it may run late, and more than once. */
  #probe<T>(operation: Operation<T>, reply: Reply<T>): void {
    const ended: Reply<number[]> = (error) => {
      if (error instanceof StoreUnavailableError) {
        this.#circuit.failed('probe', error.cause, this.#way.clock.now());
        this.#stay(operation, reply);
      } else {
        this.#circuit.answered();
        this.#ask(operation, reply);
      }
    };
    timedCall(
      this.#way,
      (done: Reply<number[]>) => this.#redis.peek(done),
      ended,
      () => {},
    );
  }

  #stay<T>({ fallback }: Operation<T>, reply: Reply<T>): void {
    this.#source = 'fallback';
    this.#leave();
    fallback(reply);
  }

  /** Notes how long a pause lasts that was made while this one served: the other has to know. */
  notePause(ms: number, here: boolean): void {
    this.#pausedUntil = this.#way.clock.now() + ms;
    this.#pausedHere = here;
  }

  /** What Redis says of pauses, and what it has not heard of yet: milliseconds. */
  followPause(ms: number): number {
    const longest = this.#pausedHere ? Math.max(ms, this.#paused) : ms;
    this.notePause(longest, false);
    return longest;
  }

  get #paused(): number {
    return Math.max(0, this.#pausedUntil - this.#way.clock.now());
  }

  #leave(): void {
    if (this.#away) return;
    this.#away = true;
    const paused = this.#paused;
    if (paused > 0) this.#fallback.pause(paused, () => {});
    const error = new StoreUnavailableError(this.#config.name, this.#circuit.cause);
    this.#config.onServiceChange?.({ type: 'fallback', error });
  }

  #return(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#config.onServiceChange?.({ type: 'recovered' });
  }
}
