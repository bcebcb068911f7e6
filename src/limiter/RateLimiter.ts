import { monotonicClock, schedulerClock } from '../clock.ts';
import { AcquireTimeoutError } from '../errors.ts';
import { capacityOf } from '../limits/limit.ts';
import type { DecideReply, Reply } from '../stores/store.ts';
import * as check from '../validate.ts';
import { checkPermits } from './checkPermits.ts';
import { clientIdOf } from './clientId.ts';
import type { NamedLimits, Permits } from './cost.ts';
import { LedgerLine } from './ledgerLine.ts';
import type { Limiter, Line } from './line.ts';
import { checkOptions, namedLimits, type RateLimiterOptions } from './options.ts';
import type { Permit } from './permit.ts';
import { type AcquireOptions, checkAcquireOptions, Request } from './request.ts';
import { storeOf } from './storeOf.ts';
import { behindLine, callPlanOf, type WrapOptions } from './wrap.ts';

/** What {@link RateLimiter.decide} found: all that the answer to a request needs, a 429 included. */
export interface Decision {
  /** Whether the permits were granted, and charged. */
  readonly granted: boolean;
  /** Permits of a window, burst of a bucket; for a record, of the limit that has the least left. */
  readonly limit: number;
  /** Whole permits that are left at once, of that limit. */
  readonly remaining: number;
  /** Whole milliseconds until the permits could be granted; 0 when they were. */
  readonly retryAfter: number;
  /** Whole milliseconds until everything that was granted and booked has come back. */
  readonly resetAfter: number;
}

/** What a limiter has done and has to do, in this process. */
export interface LimiterStats {
  /** Requests that wait and are not booked. */
  readonly queued: number;
  /** Requests that are booked, and wait for their moment. */
  readonly reserved: number;
  /** Calls made to the store to reserve. */
  readonly calls: number;
  /** Requests granted. */
  readonly granted: number;
  /** Clients that share the limit's near future, as the store last counted them. */
  readonly contenders: number;
  /** The mean round trip to the store: milliseconds. */
  readonly roundTrip: number;
}

/**
 * One rate limit for all processes that name it: requests wait in one line, first come, first served.
 *
 * A request does not poll: one call books its moment, and it waits for just that. What is cancelled is given back.
 *
 * @example
 * const limiter = new RateLimiter({
 *   name: 'stripe',
 *   limit: slidingWindow({ permits: 100, interval: 1_000 }),
 *   redis: new Redis(),
 * });
 * await limiter.acquire();
 */
export class RateLimiter<Name extends string = string> implements Limiter<Permits<Name>> {
  readonly #named: NamedLimits;
  readonly #line: LedgerLine<Permits<Name>>;

  /**
   * @param options the limit, its name, and where it is kept
   * @throws TypeError, RangeError for an option of the wrong type or out of range
   */
  constructor(options: RateLimiterOptions<Name>) {
    checkOptions(options);
    const { name, redis, prefix = 'sluice', scope, maxQueue = Infinity, scheduler } = options;
    const named = namedLimits(options.limit);
    const clock = scheduler ? schedulerClock(scheduler) : monotonicClock();
    const clientId = options.clientId ?? clientIdOf(redis ?? this);
    this.#named = named;
    const ledger = storeOf(options).open({
      name,
      prefix,
      scope,
      clientId,
      clock,
      names: named.names,
      limits: named.limits,
    });
    this.#line = new LedgerLine({ name, named, ledger, clock, maxQueue });
  }

  /** The line of this process, on which the operators stand. Its shape may change in any release. */
  get line(): Line<Permits<Name>> {
    return this.#line;
  }

  /**
   * Waits for permits.
   *
   * @param permits how many: a positive integer, or for a record of limits a record of their names; 1 by default
   * @param options `timeout` (ms, Infinity by default) and `signal`
   * @returns the permit, at its granted moment
   * @throws AcquireTimeoutError (`ERR_SLUICE_TIMEOUT`) as soon as it is known that the wait would be longer than `timeout`
   * @throws the signal's reason when it aborts
   * @throws PermitsExceedLimitError (`ERR_SLUICE_PERMITS`) at once for more than the limit can ever grant
   * @throws QueueOverflowError (`ERR_SLUICE_QUEUE`) when `maxQueue` requests already wait
   * @throws StoreUnavailableError (`ERR_SLUICE_UNAVAILABLE`), StoreError (`ERR_SLUICE_STORE`) when Redis cannot be reached, or refuses
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   * @example
   * const { waited } = await limiter.acquire(2, { timeout: 5_000 });
   */
  async acquire(permits?: Permits<Name>, options?: AcquireOptions): Promise<Permit<Permits<Name>>> {
    return this.#request(permits, options);
  }

  /**
   * Takes permits if they are there, or come in time.
   *
   * @param permits how many, as for `acquire`; 1 by default
   * @param options `timeout` (ms, 0 by default) and `signal`
   * @returns whether they were granted: false only for want of permits in time
   * @throws like `acquire` for everything else
   * @example
   * if (!(await limiter.tryAcquire())) return; // not now
   */
  async tryAcquire(permits?: Permits<Name>, options?: AcquireOptions): Promise<boolean> {
    checkAcquireOptions(options);
    try {
      await this.#request(permits, { ...options, timeout: options?.timeout ?? 0 });
      return true;
    } catch (error) {
      if (error instanceof AcquireTimeoutError) return false;
      throw error;
    }
  }

  /**
   * Takes permits if they are there at once, and says all that an HTTP answer needs. Never waits.
   *
   * @param permits how many, as for `acquire`; 1 by default
   * @returns whether they were granted, the limit, what remains, and when to come again
   * @throws like `acquire`, but for time-outs and signals
   * @example
   * const { granted, limit, remaining, retryAfter } = await limiter.decide();
   * response.setHeader('RateLimit-Limit', limit).setHeader('RateLimit-Remaining', remaining);
   * if (!granted) response.setHeader('Retry-After', Math.ceil(retryAfter / 1000)).status(429).end();
   */
  async decide(permits: Permits<Name> = 1): Promise<Decision> {
    const cost = this.#line.costOf(permits);
    const reply = await answer<DecideReply>((done) => this.#line.decide(cost, done));
    const least = reply.available.reduce((min, n, i) => (n < reply.available[min] ? i : min), 0);
    return {
      granted: reply.granted,
      limit: capacityOf(this.#named.limits[least]),
      remaining: reply.available[least],
      retryAfter: Math.ceil(reply.retryAfter),
      resetAfter: Math.ceil(reply.resetAfter),
    };
  }

  /**
   * How many permits could be granted at once.
   *
   * @param options `detail: true` for a record of the limits' names
   * @returns whole permits, 0 or more: the smallest number of a record of limits
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `acquire`
   * @example
   * await limiter.availablePermits(); // 100
   */
  async availablePermits(options?: { detail?: false }): Promise<number>;
  async availablePermits(options: { detail: true }): Promise<Record<Name, number>>;
  async availablePermits(options: { detail?: boolean } = {}): Promise<number | Record<Name, number>> {
    check.options('options', options);
    check.knownOptions(options, ['detail']);
    const { detail = false } = options;
    check.oneOf('detail', detail, [true, false]);
    const available = await answer<number[]>((done) => this.#line.peek(done));
    if (!detail) return Math.min(...available);
    return Object.fromEntries(this.#named.names.map((name, i) => [name, available[i]])) as Record<
      Name,
      number
    >;
  }

  /**
   * Makes a function that acquires permits before each call, in the order of the calls.
   *
   * A call that throws or rejects keeps its permits: it was made, and the other side has counted it.
   *
   * @param fn what to call; it gets `this` and the arguments of the call
   * @param options `permits` (1 by default; or a function of the arguments, called with the same `this`), `strategy`
   * ('wait' by default; 'error' refuses instead of waiting), `timeout` (ms, Infinity by default, 0 with the strategy
   * 'error') and `signal`, which bound the wait for permits alone
   * @returns a function with the name, the length and the arguments of `fn`, and a promise of its result; it rejects like
   * `acquire` (with RateLimitExceededError, `ERR_SLUICE_LIMIT`, in place of AcquireTimeoutError for the strategy 'error'),
   * with what `permits` throws, and as `fn` does
   * @throws TypeError, RangeError for an argument of the wrong type or out of range
   * @example
   * const user = limiter.wrap((id: string) => fetch(`https://api.example/users/${id}`));
   * await user('ada');
   */
  wrap<This, Args extends unknown[], R>(
    fn: (this: This, ...args: Args) => R,
    options?: WrapOptions<Permits<Name>, Args, This>,
  ): (this: This, ...args: Args) => Promise<Awaited<R>> {
    check.functionValue('fn', fn);
    const plan = callPlanOf(options);
    if (typeof plan.permits !== 'function') checkPermits(this.#line, plan.permits);
    return behindLine(fn, plan, () => this.#line);
  }

  /** What this limiter has done and has to do, in this process. */
  stats(): LimiterStats {
    return this.#line.stats;
  }

  /**
   * Cancels what waits, gives back what is booked, and leaves no timer. The Redis connection stays open: it is yours.
   *
   * @returns once nothing is under way any more, or after a second where Redis does not answer; those who waited reject with
   * LimiterClosedError
   * @example
   * await using limiter = new RateLimiter({ name: 'api', limit }); // or, by hand: await limiter.close()
   */
  async close(): Promise<void> {
    await this.#line.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #request(permits: Permits<Name> = 1, options: AcquireOptions = {}): Promise<Permit<Permits<Name>>> {
    checkAcquireOptions(options);
    const cost = this.#line.costOf(permits);
    return new Promise((resolve, reject) =>
      new Request(this.#line, permits, cost, options, resolve, reject).ask(),
    );
  }
}

/** A store's answer as a promise. */
function answer<T>(call: (done: Reply<T>) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    call((error, value) => (error ? reject(error) : resolve(value as T))),
  );
}
