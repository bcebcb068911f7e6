import type { Observable } from 'rxjs';
import { AcquireTimeoutError, type AskedPermits, LimiterClosedError } from '../errors.ts';
import { exceedsError, leastShare, limitOf, type NamedLimits, type Permits } from '../limits/cost.ts';
import { capacityOf } from '../limits/limit.ts';
import { unusedCost } from '../limits/unused.ts';
import { checkPause } from '../port/checkPause.ts';
import { checkPermits } from '../port/checkPermits.ts';
import type { LimiterEvent } from '../port/events.ts';
import type { Limiter, Line } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import type { ControlledLedger, DecideReply, Rate } from '../stores/store.ts';
import * as check from '../validate.ts';
import { type AcquireOptions, Acquisition, checkAcquireOptions } from './acquisition.ts';
import { LedgerLine } from './ledgerLine.ts';
import { LimiterParts, partsOf } from './limiterParts.ts';
import { namedLimits, type RateLimiterOptions, sameNames } from './options.ts';
import type { Decision, LimiterStats, LimitInForce } from './results.ts';
import { toPromise } from './toPromise.ts';
import { behindLine, callPlanOf, type WrapOptions } from './wrap.ts';

/** How {@link RateLimiter.setRate} stores a limit. */
export interface SetRateOptions {
  /**
   * Whether what is already granted goes on counting.
   *
   * @default true
   */
  keepState?: boolean | undefined;
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
  readonly #ledger: ControlledLedger;
  readonly #line: LedgerLine<Permits<Name>>;

  /**
   * @param options the limit, its name, and where it is kept
   * @throws TypeError, RangeError for an option of the wrong type or out of range
   */
  constructor(options: RateLimiterOptions<Name>) {
    // A group has looked at the options of its limiters.
    const parts = options instanceof LimiterParts ? options : partsOf(options, this);
    this.#named = parts.named;
    this.#ledger = parts.ledger;
    this.#line = new LedgerLine(parts);
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
  acquire(permits: Permits<Name> = 1, options?: AcquireOptions): Promise<Permit<Permits<Name>>> {
    try {
      const { cost, grant } = this.#take(permits, options);
      const line = this.#line;
      if (grant) return Promise.resolve(line.permitOf(grant, permits));
      return new Promise((resolve, reject) =>
        new Acquisition(line, permits, cost, options ?? {}, resolve, reject).ask(),
      );
    } catch (error) {
      return Promise.reject(error);
    }
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
  async tryAcquire(permits: Permits<Name> = 1, options?: AcquireOptions): Promise<boolean> {
    const { cost, grant } = this.#take(permits, options);
    if (grant) return true;
    const { timeout = 0, signal } = options ?? {};
    try {
      await new Promise((resolve, reject) =>
        new Acquisition(this.#line, permits, cost, { timeout, signal }, resolve, reject).ask(),
      );
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
  decide(permits: Permits<Name> = 1): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const cost = this.#line.costOf(permits);
      this.#line.decide(cost, (error, reply) => {
        if (error) reject(error);
        else if (reply!.retryAfter < Infinity) resolve(this.#decisionOf(reply!, cost));
        else reject(exceedsError(this.#line.name, this.#named, this.#ledger.limits, permits as AskedPermits));
      });
    });
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
  async availablePermits(options?: { detail?: false | undefined }): Promise<number>;
  async availablePermits(options: { detail: true }): Promise<Record<Name, number>>;
  async availablePermits(
    options: { detail?: boolean | undefined } = {},
  ): Promise<number | Record<Name, number>> {
    check.options('options', options);
    check.knownOptions(options, ['detail']);
    const { detail = false } = options;
    check.oneOf('detail', detail, [true, false]);
    const available = await toPromise<number[]>((done) => this.#line.peek(done));
    return detail ? this.#byName(available) : Math.min(...available);
  }

  /**
   * Gives permits back that were granted and not used, where their own `refund` is not at hand.
   *
   * They are taken from the newest grants up to now, whoever got them, and never from what is booked: while the fleet has
   * bookings ahead, less may come back than could. Never more than the limit is available afterwards.
   *
   * @param permits how many, as for `acquire`; 0 does nothing
   * @returns once the store has taken it
   * @throws TypeError, RangeError for what is no number of permits, 0 or more
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `acquire`
   * @example
   * await limiter.release(20); // a batch of 20 was called off
   */
  async release(permits: Permits<Name>): Promise<void> {
    if (permits === undefined)
      throw new TypeError('permits: expected a number or a record of permits, got undefined');
    const { names, record } = this.#named;
    const most = names.map(() => Number.MAX_SAFE_INTEGER);
    const cost = unusedCost(names, record, most, permits, 'permits');
    if (cost.every((n) => n === 0)) return;
    await toPromise<void>((done) => this.#line.release(cost, done));
  }

  /**
   * Stores a limit for the whole fleet, unless one is stored: it then overrides every client's own from its next call on.
   *
   * @param limit a limit, or a record with the names that this limiter was made with
   * @returns whether it was stored
   * @throws TypeError, RangeError for what is no such limit
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `acquire`
   * @example
   * await limiter.trySetRate(slidingWindow({ permits: 100, interval: 1_000 }));
   */
  async trySetRate(limit: RateLimiterOptions<Name>['limit']): Promise<boolean> {
    return this.#store(limit, { ifAbsent: true, keepState: true });
  }

  /**
   * Stores a limit for the whole fleet, in place of every client's own, and of the one that was stored.
   *
   * What is already granted keeps counting. Who waits hears of it within two seconds: what was booked further ahead is
   * booked anew, and only what was booked for those two seconds may still be granted beyond a lower limit.
   *
   * @param limit a limit, or a record with the names that this limiter was made with
   * @param options `keepState`: false forgets what was granted (true by default)
   * @returns once it is stored
   * @throws TypeError, RangeError for what is no such limit
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `acquire`
   * @example
   * await limiter.setRate(slidingWindow({ permits: 20, interval: 1_000 })); // slower, everywhere, at once
   */
  async setRate(limit: RateLimiterOptions<Name>['limit'], options: SetRateOptions = {}): Promise<void> {
    check.options('options', options);
    check.knownOptions(options, ['keepState']);
    const { keepState = true } = options;
    check.oneOf('keepState', keepState, [true, false]);
    await this.#store(limit, { ifAbsent: false, keepState });
  }

  /**
   * The limit in force, and whether it is stored for the fleet or this limiter's own.
   *
   * @returns `{ limit, stored }`, the limit as a record where this limiter was made with one
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `acquire`
   * @example
   * const { limit, stored } = await limiter.getRate();
   */
  async getRate(): Promise<LimitInForce<Name>> {
    if (this.#line.closed) throw new LimiterClosedError(this.#line.name);
    const { limits, stored } = await toPromise<Rate>((done) => this.#ledger.getRate(done));
    return { limit: limitOf(this.#named, limits) as LimitInForce<Name>['limit'], stored };
  }

  /**
   * Lets the whole fleet hold: nothing is granted to anyone before `ms` from now, as after an answer with Retry-After.
   *
   * Of several pauses the one that ends last counts; `reset()` lifts it. Here it holds at once, also for what is booked;
   * another process that has waiters hears of it within two seconds. What it overtakes is booked anew behind it, in order.
   *
   * @param ms milliseconds from now, 0 or more, at most about a century
   * @returns once the fleet pauses
   * @throws TypeError, RangeError for what is no such time
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `acquire`
   * @example
   * if (response.status === 429) await limiter.pauseFor(Number(response.headers.get('Retry-After')) * 1_000);
   */
  async pauseFor(ms: number): Promise<void> {
    checkPause('ms', ms);
    await toPromise<number>((done) => this.#line.pause((told) => this.#ledger.pause(ms, told), done));
  }

  /**
   * Forgets what was granted and booked, and lifts a pause; a stored rate stays. With `scope: 'client'`: what was granted to
   * this client.
   *
   * Who waits is booked anew within two seconds. What was booked until then may still be granted, and no longer counts.
   *
   * @returns once it is forgotten
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `acquire`
   * @example
   * await limiter.reset();
   */
  async reset(): Promise<void> {
    await this.#forget({ rate: false });
  }

  /**
   * Forgets what `reset()` does, and the stored rate: each client's own limit holds again.
   *
   * @returns once it is forgotten
   * @throws StoreUnavailableError, StoreError, LimiterClosedError as `acquire`
   * @example
   * await limiter.delete();
   */
  async delete(): Promise<void> {
    await this.#forget({ rate: true });
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

  /**
   * What happens at this limiter, in this process, as it happens; it completes when the limiter is closed.
   *
   * Nothing is replayed, and while nobody subscribes nothing is made.
   *
   * @example
   * limiter.events$.pipe(filter(({ type }) => type === 'timeout')).subscribe(() => metrics.increment('throttled'));
   */
  get events$(): Observable<LimiterEvent> {
    return this.#line.events.events$;
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

  #store(
    limit: RateLimiterOptions<Name>['limit'],
    how: { ifAbsent: boolean; keepState: boolean },
  ): Promise<boolean> {
    const { limits } = sameNames(this.#named, namedLimits(limit));
    return toPromise((done) =>
      this.#line.changeLimit((told) => this.#ledger.setRate({ limits, ...how }, told), done),
    );
  }

  #forget(what: { rate: boolean }): Promise<void> {
    return toPromise((done) => this.#line.forget((told) => this.#ledger.forget(what, told), done));
  }

  #decisionOf(
    { granted, available, retryAfter, resetAfter, limiting }: DecideReply,
    cost: readonly number[],
  ): Decision {
    const { limits } = this.#ledger;
    const told = limiting ?? leastShare(limits, available, cost);
    return {
      granted,
      limit: capacityOf(limits[told]),
      remaining: available[told],
      retryAfter: Math.ceil(retryAfter),
      resetAfter: Math.ceil(resetAfter),
    };
  }

  #byName<T>(values: readonly T[]): Record<Name, T> {
    return Object.fromEntries(this.#named.names.map((name, i) => [name, values[i]])) as Record<Name, T>;
  }

  /** Checks a request, and takes its permits if they are there at once and nobody waits. */
  #take(permits: Permits<Name>, options: AcquireOptions | undefined) {
    checkAcquireOptions(options);
    const cost = this.#line.costOf(permits);
    const grant = options?.signal?.aborted ? undefined : this.#line.take(cost);
    return { cost, grant };
  }
}
