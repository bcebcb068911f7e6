import { monotonicClock } from '../clock.ts';
import { LimiterClosedError, NotInitializedError } from '../errors.ts';
import { type AcquireOptions, checkAcquireOptions } from '../limiter/acquireOptions.ts';
import { acquireFrom, tryAcquireFrom } from '../limiter/acquisition.ts';
import { clientIdOf } from '../limiter/clientId.ts';
import { LedgerLine } from '../limiter/ledgerLine.ts';
import { defaultStoreTimeout } from '../limiter/options.ts';
import { toPromise } from '../limiter/toPromise.ts';
import type { Limiter, Line } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { connectionOf } from '../stores/redis/connection.ts';
import type { RedisClient } from '../stores/redis/redisClient.ts';
import { TimedCalls } from '../stores/redis/timedCalls.ts';
import { TimedLedger } from '../stores/redis/timedLedger.ts';
import type { Reply } from '../stores/store.ts';
import * as check from '../validate.ts';
import { DeadlineTimer } from './deadlineTimer.ts';
import { type RedissonKeys, redissonKeys } from './keys.ts';
import { unknownLimit } from './limitOf.ts';
import {
  checkLimiter,
  type RedissonConfig,
  type RedissonRateLimiterOptions,
  type RedissonRateOptions,
  type RedissonSetRateOptions,
  rateOf,
} from './options.ts';
import type { RateType } from './RateType.ts';
import { openRedissonLedger } from './redissonLedger.ts';
import { failureOf, isDone } from './replies.ts';
import { type RedissonScripts, redissonScripts } from './scripts.ts';
import { storedConfig } from './storedConfig.ts';

/**
 * Redisson's `RRateLimiter`, on its own keys: JVM services and Node services share one limit.
 *
 * The rate is stored in Redis; the first `trySetRate` sets it. The requests of one limiter object wait in one queue, and one
 * call at a time asks Redis for them. Unlike the original, it takes the time from Redis, waits exactly until enough permits are
 * free, and loses no permits of a wait that was given up.
 *
 * @example
 * const limiter = new RedissonRateLimiter(new Redis(), 'stripe');
 * await limiter.trySetRate(RateType.OVERALL, 100, 1_000);
 * await limiter.acquire();
 */
export class RedissonRateLimiter implements Limiter<number> {
  /** The limiter's name, and the key of its config. */
  readonly name: string;
  readonly #keys: RedissonKeys;
  /** Identifies this limiter's entries in the log. */
  readonly #id = lineId();
  readonly #scripts: RedissonScripts;
  readonly #calls: TimedCalls;
  readonly #line: LedgerLine<number>;
  readonly #deadlines: DeadlineTimer;

  /**
   * Creates a limiter on the keys of a `RRateLimiter`. Makes no call: `trySetRate` stores a rate if there is none.
   *
   * @param redis an ioredis `Redis` or `Cluster`, or the adapter of another client ({@link nodeRedis}, {@link valkeyGlide}); the limiter does not close it
   * @param name the limiter's name, as the JVM services give it to `getRateLimiter`
   * @param options `clientId`: the client that owns the permits with `RateType.PER_CLIENT`; `storeTimeout`: milliseconds that one call
   * to Redis may take, 5,000 by default
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   */
  constructor(redis: RedisClient, name: string, options: RedissonRateLimiterOptions = {}) {
    checkLimiter(redis, name, options);
    this.name = name;
    this.#keys = redissonKeys(name, options.clientId ?? clientIdOf(redis));
    this.#scripts = redissonScripts(redis);
    const clock = monotonicClock();
    this.#deadlines = new DeadlineTimer(clock);
    const { storeTimeout: timeout = defaultStoreTimeout } = options;
    this.#calls = new TimedCalls({ clock, connection: connectionOf(redis), timeout, failsFast: false });
    const remote = openRedissonLedger(name, this.#keys, this.#id, this.#scripts);
    const ledger = new TimedLedger(name, remote, this.#calls);
    const named = { record: false, names: [''], limits: [unknownLimit] };
    this.#line = new LedgerLine({ name, named, ledger, clock, maxQueue: Infinity });
  }

  /** The queue of this limiter object, which the operators use. It is internal: its members may change in any release. */
  get line(): Line<number> {
    return this.#line;
  }

  /**
   * Sets the rate, unless one is set.
   *
   * @param type whether all clients share the rate, or each has the whole rate
   * @param rate permits per `interval`: a positive integer
   * @param interval milliseconds: a positive integer
   * @param options `keepAlive`: milliseconds after which an unused limiter expires; 0 (never) by default
   * @returns whether the rate was set
   * @throws TypeError, RangeError for an argument of the wrong type or out of range, such as a `keepAlive` below the interval
   * @throws StoreUnavailableError (`ERR_SLUICE_UNAVAILABLE`), StoreError (`ERR_SLUICE_STORE`) when Redis cannot be reached, or replies with an error
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   * @example
   * await limiter.trySetRate(RateType.OVERALL, 100, 1_000, { keepAlive: 3_600_000 });
   */
  async trySetRate(
    type: RateType,
    rate: number,
    interval: number,
    options: RedissonRateOptions = {},
  ): Promise<boolean> {
    return this.#setRate('new', rateOf(type, rate, interval, options, ['keepAlive']));
  }

  /**
   * Sets the rate, and replaces any other. Granted permits are forgotten, unless `keepState` is true.
   *
   * @param type whether all clients share the rate, or each has the whole rate; a change of type forgets granted permits
   * @param rate permits per `interval`: a positive integer
   * @param interval milliseconds: a positive integer
   * @param options `keepAlive` as for `trySetRate`; `keepState`: whether permits that were granted within the new interval
   * continue to count, false by default
   * @throws like `trySetRate`
   * @example
   * await limiter.setRate(RateType.OVERALL, 200, 1_000, { keepState: true });
   */
  async setRate(
    type: RateType,
    rate: number,
    interval: number,
    options: RedissonSetRateOptions = {},
  ): Promise<void> {
    await this.#setRate('any', rateOf(type, rate, interval, options, ['keepAlive', 'keepState']));
  }

  /**
   * Sets the rate as `setRate` does, if the limiter has a rate.
   *
   * @param type whether all clients share the rate, or each has the whole rate; a change of type forgets granted permits
   * @param rate permits per `interval`: a positive integer
   * @param interval milliseconds: a positive integer
   * @param options `keepAlive` and `keepState`, as for `setRate`
   * @returns whether the limiter had a rate, so that the new one was set
   * @throws like `trySetRate`
   * @example
   * if (!(await limiter.updateRate(RateType.OVERALL, 200, 1_000))) console.log('there is no such limiter');
   */
  async updateRate(
    type: RateType,
    rate: number,
    interval: number,
    options: RedissonSetRateOptions = {},
  ): Promise<boolean> {
    return this.#setRate('known', rateOf(type, rate, interval, options, ['keepAlive', 'keepState']));
  }

  /**
   * Waits for permits.
   *
   * @param permits how many: a positive integer; 1 by default
   * @param options `timeout` (ms, Infinity by default) and `signal`
   * @returns the permit, once it is granted
   * @throws NotInitializedError (`ERR_SLUICE_NOT_INITIALIZED`) if no rate is set
   * @throws PermitsExceedLimitError (`ERR_SLUICE_PERMITS`) for more than the rate
   * @throws AcquireTimeoutError (`ERR_SLUICE_TIMEOUT`) as soon as it is known that the wait would be longer than `timeout`
   * @throws the signal's reason when it aborts
   * @throws StoreUnavailableError (`ERR_SLUICE_UNAVAILABLE`), StoreError (`ERR_SLUICE_STORE`) when Redis cannot be reached, or replies with an error
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   * @example
   * await limiter.acquire(5);
   */
  async acquire(permits = 1, options: AcquireOptions = {}): Promise<Permit<number>> {
    checkAcquireOptions(options);
    return acquireFrom(this.#line, permits, this.#line.costOf(permits), options);
  }

  /**
   * Takes permits if they are available within the timeout.
   *
   * @param permits how many: a positive integer; 1 by default
   * @param timeout milliseconds: may be fractional, 0 or Infinity; 0 by default
   * @returns whether they were granted; false exactly at the timeout, even if it was known earlier
   * @throws like `acquire` for everything else, more than the rate included
   * @example
   * if (!(await limiter.tryAcquire(1, 500))) return; // not within half a second
   */
  async tryAcquire(permits = 1, timeout = 0): Promise<boolean> {
    check.duration('timeout', timeout);
    const deadline = this.#line.now() + timeout;
    const isGranted = await tryAcquireFrom(this.#line, permits, this.#line.costOf(permits), { timeout });
    if (!isGranted) await this.#deadlines.until(deadline);
    return isGranted;
  }

  /**
   * Releases permits of the newest grants. The available permits never exceed the rate.
   *
   * @param permits how many: a positive integer, or 0 for none; only granted permits can be released
   * @throws like `availablePermits`
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   * @example
   * await limiter.release(3); // three calls were not made
   */
  async release(permits: number): Promise<void> {
    const cost = permits === 0 ? undefined : this.#line.costOf(permits);
    if (this.#line.closed) throw new LimiterClosedError(this.name);
    if (!cost) return;
    await toPromise<void>((reply) => this.#line.release(cost, reply));
  }

  /**
   * Returns how many permits could be granted at once.
   *
   * @returns a whole number, 0 or more
   * @throws NotInitializedError (`ERR_SLUICE_NOT_INITIALIZED`) if no rate is set
   * @throws StoreUnavailableError (`ERR_SLUICE_UNAVAILABLE`), StoreError (`ERR_SLUICE_STORE`) when Redis cannot be reached, or replies with an error
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   */
  async availablePermits(): Promise<number> {
    const [permits] = await toPromise<number[]>((reply) => this.#line.peek(reply));
    return permits;
  }

  /**
   * Returns the stored rate.
   *
   * @returns its `type`, `rate`, `interval` (ms) and `keepAlive` (ms, 0 for none)
   * @throws like `availablePermits`
   * @example
   * const { rate, interval } = await limiter.getConfig();
   */
  async getConfig(): Promise<RedissonConfig> {
    const fields = ['rate', 'interval', 'type', 'keepAliveTime'];
    const [rate, interval, type, keepAlive] = await this.#call(
      () => this.#scripts.command([this.#keys.config], ['HMGET', ...fields]) as Promise<(string | null)[]>,
    );
    if (rate === null || interval === null || type === null) throw new NotInitializedError(this.name);
    return storedConfig(this.name, { rate, interval, type, keepAlive });
  }

  /**
   * Lets the limiter, its config and its state, expire after so many milliseconds.
   *
   * @param ms milliseconds: a positive integer
   * @returns false if there is no such limiter
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   */
  async expire(ms: number): Promise<boolean> {
    check.positiveInteger('ms', ms);
    return this.#expire(ms);
  }

  /**
   * Removes the expiry of the limiter.
   *
   * @returns whether it had one
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   */
  async clearExpire(): Promise<boolean> {
    return this.#expire(-1);
  }

  /**
   * Returns when the limiter expires.
   *
   * @returns milliseconds from now; -1 for never, -2 if there is no such limiter
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   */
  async remainTimeToLive(): Promise<number> {
    return Number(await this.#call(() => this.#scripts.command([this.#keys.config], ['PTTL'])));
  }

  /**
   * Returns whether a rate is set.
   *
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   */
  async isExists(): Promise<boolean> {
    return isDone(await this.#call(() => this.#scripts.command([this.#keys.config], ['EXISTS'])));
  }

  /**
   * Removes the limiter: its rate and its granted permits.
   *
   * @returns false if there was none
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   */
  async delete(): Promise<boolean> {
    const { all, sequence } = this.#keys;
    const unlink = (keys: readonly string[]) => this.#scripts.command(keys, ['UNLINK']);
    const removed = await this.#changeLimit(() => Promise.all([unlink(all), unlink([sequence(this.#id)])]));
    return Number(removed[0]) > 0;
  }

  /**
   * Rejects waiting requests with LimiterClosedError, and leaves no timer. It does not close the Redis connection.
   *
   * @returns nothing, once no call is under way, or after a second
   * @example
   * await using limiter = new RedissonRateLimiter(redis, 'stripe'); // or, by hand: await limiter.close()
   */
  async close(): Promise<void> {
    this.#deadlines.end(new LimiterClosedError(this.name));
    await this.#line.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #setRate(
    when: 'new' | 'known' | 'any',
    { type, rate, interval, keepAlive, keepState }: ReturnType<typeof rateOf>,
  ): Promise<boolean> {
    const args = [when, rate, interval, type, keepAlive, keepState ? 1 : 0];
    return this.#changeLimit(async () => isDone(await this.#scripts.setRate(this.#keys.all, args)));
  }

  async #expire(ms: number): Promise<boolean> {
    return this.#call(async () => isDone(await this.#scripts.expire(this.#keys.original, [ms])));
  }

  /** Makes a call that changes when waiting requests can be granted. */
  #changeLimit<T>(call: () => Promise<T>): Promise<T> {
    return toPromise((reply) =>
      this.#line.dispatcher.changes.send<T>((done) => {
        this.#call(call).then((value) => done(null, value), done);
      }, reply),
    );
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    if (this.#line.closed) throw new LimiterClosedError(this.name);
    const send = (done: Reply<T>) => {
      Promise.resolve()
        .then(call)
        .then(
          (value) => done(null, value),
          (error) => done(failureOf(this.name, error)),
        );
    };
    return toPromise<T>((reply) => this.#calls.call(this.name, send, reply));
  }
}

/** Six random ASCII characters. */
function lineId(): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(5)))
    .toString('base64')
    .slice(0, 6);
}
