import type { Cluster, Redis } from 'ioredis';
import { monotonicClock } from '../clock.ts';
import { AcquireTimeoutError, LimiterClosedError, NotInitializedError } from '../errors.ts';
import { type AcquireOptions, Acquisition, checkAcquireOptions } from '../limiter/acquisition.ts';
import { clientIdOf } from '../limiter/clientId.ts';
import { LedgerLine } from '../limiter/ledgerLine.ts';
import { toPromise } from '../limiter/toPromise.ts';
import type { Limiter, Line } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { connectionOf } from '../stores/redis/connection.ts';
import { TimedCalls } from '../stores/redis/timedCalls.ts';
import { TimedLedger } from '../stores/redis/timedLedger.ts';
import type { Reply } from '../stores/store.ts';
import * as check from '../validate.ts';
import { unknownLimit } from './configCache.ts';
import { type RedissonKeys, redissonKeys } from './keys.ts';
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
import { failureOf } from './replies.ts';
import { RetryTimer } from './retryTimer.ts';
import { type RedissonScripts, redissonScripts } from './scripts.ts';
import { storedConfig } from './storedConfig.ts';

/**
 * Redisson's `RRateLimiter`, on its own keys: JVM services and Node services share one quota.
 *
 * The rate is stored in Redis, and is set by whoever comes first. Requests of one process wait in one line, of which only
 * the head asks. Unlike the original it takes the time from Redis, waits for exactly the moment at which enough permits
 * have come back, and loses none that were waited for in vain.
 *
 * @example
 * const limiter = new RedissonRateLimiter(new Redis(), 'stripe');
 * await limiter.trySetRate(RateType.OVERALL, 100, 1_000);
 * await limiter.acquire();
 */
export class RedissonRateLimiter implements Limiter<number> {
  /** The limiter's name, and the key of its config. */
  readonly name: string;
  readonly #redis: Redis | Cluster;
  readonly #keys: RedissonKeys;
  /** Who is granted something here, as its entries in the log say. */
  readonly #id = lineId();
  readonly #scripts: RedissonScripts;
  readonly #calls: TimedCalls;
  readonly #line: LedgerLine<number>;
  readonly #patience: RetryTimer;

  /**
   * @param redis an ioredis `Redis` or `Cluster`, which stays yours to close
   * @param name the limiter's name, as the JVM services give it to `getRateLimiter`
   * @param options `clientId`: whose permits these are with `RateType.PER_CLIENT`; `storeTimeout`: milliseconds that one call
   * to Redis may take, 5,000 by default
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   */
  constructor(redis: Redis | Cluster, name: string, options: RedissonRateLimiterOptions = {}) {
    checkLimiter(redis, name, options);
    this.name = name;
    this.#redis = redis;
    this.#keys = redissonKeys(name, options.clientId ?? clientIdOf(redis));
    this.#scripts = redissonScripts(redis);
    const clock = monotonicClock();
    this.#patience = new RetryTimer(clock);
    const { storeTimeout: timeout = 5_000 } = options;
    this.#calls = new TimedCalls({ clock, connection: connectionOf(redis), timeout, failsFast: false });
    const remote = openRedissonLedger(name, this.#keys, this.#id, this.#scripts);
    const ledger = new TimedLedger(name, remote, this.#calls);
    const named = { record: false, names: [''], limits: [unknownLimit] };
    this.#line = new LedgerLine({ name, named, ledger, clock, maxQueue: Infinity });
  }

  /** The line of this process, on which the operators stand. Its shape may change in any release. */
  get line(): Line<number> {
    return this.#line;
  }

  /**
   * Sets the rate, unless one is set.
   *
   * @param type whether all clients share the permits, or each has them for itself
   * @param rate permits per `interval`: a positive integer
   * @param interval milliseconds: a positive integer
   * @param options `keepAlive`: milliseconds after which an unused limiter is forgotten; 0, for never, by default
   * @returns whether it was set
   * @throws TypeError, RangeError for an argument of the wrong type or out of range, such as a `keepAlive` below the interval
   * @throws StoreUnavailableError (`ERR_SLUICE_UNAVAILABLE`), StoreError (`ERR_SLUICE_STORE`) when Redis cannot be reached, or refuses
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   * @example
   * await limiter.trySetRate(RateType.OVERALL, 100, 1_000, { keepAlive: 3_600_000 });
   */
  async trySetRate(
    type: RateType,
    rate: number,
    interval: number,
    options?: RedissonRateOptions,
  ): Promise<boolean> {
    return this.#setRate('new', rateOf(type, rate, interval, options, ['keepAlive']));
  }

  /**
   * Sets the rate, whatever was set before. What has been granted is forgotten, unless it is to be kept.
   *
   * @param type whether all clients share the permits, or each has them for itself; another one than before forgets all
   * @param rate permits per `interval`: a positive integer
   * @param interval milliseconds: a positive integer
   * @param options `keepAlive` as for `trySetRate`; `keepState`: what was granted within the new interval goes on counting,
   * false by default
   * @throws like `trySetRate`
   * @example
   * await limiter.setRate(RateType.OVERALL, 200, 1_000, { keepState: true });
   */
  async setRate(
    type: RateType,
    rate: number,
    interval: number,
    options?: RedissonSetRateOptions,
  ): Promise<void> {
    await this.#setRate('any', rateOf(type, rate, interval, options, ['keepAlive', 'keepState']));
  }

  /**
   * Sets the rate, as `setRate` does, of a limiter that has one.
   *
   * @param type whether all clients share the permits, or each has them for itself; another one than before forgets all
   * @param rate permits per `interval`: a positive integer
   * @param interval milliseconds: a positive integer
   * @param options `keepAlive` and `keepState`, as for `setRate`
   * @returns whether there was one
   * @throws like `trySetRate`
   * @example
   * if (!(await limiter.updateRate(RateType.OVERALL, 200, 1_000))) console.log('there is no such limiter');
   */
  async updateRate(
    type: RateType,
    rate: number,
    interval: number,
    options?: RedissonSetRateOptions,
  ): Promise<boolean> {
    return this.#setRate('known', rateOf(type, rate, interval, options, ['keepAlive', 'keepState']));
  }

  /**
   * Waits for permits.
   *
   * @param permits how many: a positive integer; 1 by default
   * @param options `timeout` (ms, Infinity by default) and `signal`
   * @returns the permit, once it is granted
   * @throws NotInitializedError (`ERR_SLUICE_NOT_INITIALIZED`) where no rate is set
   * @throws PermitsExceedLimitError (`ERR_SLUICE_PERMITS`) for more than the rate
   * @throws AcquireTimeoutError (`ERR_SLUICE_TIMEOUT`) as soon as it is known that the wait would be longer than `timeout`
   * @throws the signal's reason when it aborts
   * @throws StoreUnavailableError (`ERR_SLUICE_UNAVAILABLE`), StoreError (`ERR_SLUICE_STORE`) when Redis cannot be reached, or refuses
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   * @example
   * await limiter.acquire(5);
   */
  async acquire(permits = 1, options: AcquireOptions = {}): Promise<Permit<number>> {
    checkAcquireOptions(options);
    return this.#request(permits, options);
  }

  /**
   * Takes permits if they are there, or come in time.
   *
   * @param permits how many: a positive integer; 1 by default
   * @param timeout milliseconds: may be fractional, 0 or Infinity; 0 by default
   * @returns whether they were granted; false comes exactly at the timeout, even where it was known before
   * @throws like `acquire` for everything else, more than the rate included
   * @example
   * if (!(await limiter.tryAcquire(1, 500))) return; // not within half a second
   */
  async tryAcquire(permits = 1, timeout = 0): Promise<boolean> {
    check.duration('timeout', timeout);
    const deadline = this.#line.now() + timeout;
    try {
      await this.#request(permits, { timeout });
      return true;
    } catch (error) {
      if (!(error instanceof AcquireTimeoutError)) throw error;
      await this.#patience.until(deadline);
      return false;
    }
  }

  /**
   * Gives permits back, out of what was granted last: what is available never exceeds the rate.
   *
   * @param permits how many: a positive integer, or 0, which gives nothing back; what was not granted cannot be given back
   * @throws like `availablePermits`
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   * @example
   * await limiter.release(3); // three calls were not made
   */
  async release(permits: number): Promise<void> {
    const cost = permits === 0 ? undefined : this.#line.costOf(permits);
    if (this.#line.closed) throw new LimiterClosedError(this.name);
    if (!cost) return;
    await new Promise<void>((resolve, reject) =>
      this.#line.release(cost, (error) => (error ? reject(error) : resolve())),
    );
  }

  /**
   * Says how many permits could be granted at once.
   *
   * @returns a whole number, 0 or more
   * @throws NotInitializedError (`ERR_SLUICE_NOT_INITIALIZED`) where no rate is set
   * @throws StoreUnavailableError (`ERR_SLUICE_UNAVAILABLE`), StoreError (`ERR_SLUICE_STORE`) when Redis cannot be reached, or refuses
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   */
  async availablePermits(): Promise<number> {
    const [permits] = await toPromise<number[]>((reply) => this.#line.peek(reply));
    return permits;
  }

  /**
   * Says which rate is set.
   *
   * @returns its `type`, `rate`, `interval` (ms) and `keepAlive` (ms, 0 for none)
   * @throws like `availablePermits`
   * @example
   * const { rate, interval } = await limiter.getConfig();
   */
  async getConfig(): Promise<RedissonConfig> {
    const fields = ['rate', 'interval', 'type', 'keepAliveTime'];
    const [rate, interval, type, keepAlive] = await this.#ask(() =>
      this.#redis.hmget(this.#keys.config, ...fields),
    );
    if (rate === null || interval === null || type === null) throw new NotInitializedError(this.name);
    return storedConfig(this.name, { rate, interval, type, keepAlive });
  }

  /**
   * Lets the limiter end, config and state alike, after so many milliseconds.
   *
   * @param ms milliseconds: a positive integer
   * @returns false where there is no such limiter
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   */
  async expire(ms: number): Promise<boolean> {
    check.positiveInteger('ms', ms);
    return this.#expire(ms);
  }

  /**
   * Lets the limiter live on for ever.
   *
   * @returns whether it would have ended
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   */
  async clearExpire(): Promise<boolean> {
    return this.#expire(-1);
  }

  /**
   * Says how long the limiter still lives.
   *
   * @returns milliseconds; -1 for ever, -2 where there is no such limiter
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   */
  async remainTimeToLive(): Promise<number> {
    return this.#ask(() => this.#redis.pttl(this.#keys.config));
  }

  /**
   * Says whether a rate is set.
   *
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   */
  async isExists(): Promise<boolean> {
    return (await this.#ask(() => this.#redis.exists(this.#keys.config))) === 1;
  }

  /**
   * Removes the limiter: its rate, and what was granted.
   *
   * @returns false where there was none
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `availablePermits`
   */
  async delete(): Promise<boolean> {
    const removed = await this.#steer(() =>
      Promise.all([this.#redis.unlink(...this.#keys.all), this.#redis.unlink(this.#keys.sequence(this.#id))]),
    );
    return removed[0] > 0;
  }

  /**
   * Cancels what waits, and leaves no timer. The Redis connection stays open: it is yours.
   *
   * @returns once nothing is under way any more, or after a second where Redis does not answer; those who waited reject with
   * LimiterClosedError
   * @example
   * await using limiter = new RedissonRateLimiter(redis, 'stripe'); // or, by hand: await limiter.close()
   */
  async close(): Promise<void> {
    this.#patience.end(new LimiterClosedError(this.name));
    await this.#line.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #request(permits: number, options: AcquireOptions): Promise<Permit<number>> {
    const cost = this.#line.costOf(permits);
    return new Promise((resolve, reject) =>
      new Acquisition(this.#line, permits, cost, options, resolve, reject).ask(),
    );
  }

  async #setRate(
    when: 'new' | 'known' | 'any',
    { type, rate, interval, keepAlive, keepState }: ReturnType<typeof rateOf>,
  ): Promise<boolean> {
    const args = [when, rate, interval, type, keepAlive, keepState ? 1 : 0];
    return (await this.#steer(() => this.#scripts.setRate(this.#keys.all, args))) === 1;
  }

  async #expire(ms: number): Promise<boolean> {
    return (await this.#ask(() => this.#scripts.expire(this.#keys.original, [ms]))) === 1;
  }

  /** One call that changes what those who wait may have. */
  #steer<T>(call: () => Promise<T>): Promise<T> {
    return toPromise((reply) =>
      this.#line.changeLimit<T>((done) => {
        this.#ask(call).then((value) => done(null, value), done);
      }, reply),
    );
  }

  async #ask<T>(call: () => Promise<T>): Promise<T> {
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

/** Six bytes, as characters of one byte each, which no other line has, as far as chance allows. */
function lineId(): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(5)))
    .toString('base64')
    .slice(0, 6);
}
