import type { Observable } from 'rxjs';
import { type Cost, type Permits, shownOf } from '../limits/cost.ts';
import { unusedCost } from '../limits/unused.ts';
import type { LimiterEvent } from '../port/events.ts';
import type { Limiter, Line } from '../port/line.ts';
import { lineFinder } from '../port/lineOf.ts';
import type { Permit } from '../port/permit.ts';
import type { ControlledLedger, DecideReply, Rate } from '../stores/store.ts';
import * as check from '../validate.ts';
import { type AcquireOptions, checkAcquireOptions } from './acquireOptions.ts';
import { acquireFrom, tryAcquireFrom } from './acquisition.ts';
import { decisionOf } from './decision.ts';
import { LedgerLine } from './ledgerLine.ts';
import { partsOf } from './limiterParts.ts';
import { namedLimits, type RateLimiterOptions, sameNames } from './options.ts';
import type { Decision, LimiterStats, LimitInForce } from './results.ts';
import { toPromise } from './toPromise.ts';
import { callPlanOf, limitedFunction, type WrapOptions } from './wrap.ts';

/** Options of {@link RateLimiter.setRate}. */
export interface SetRateOptions {
  /**
   * Whether permits that are already granted continue to count.
   *
   * @default true
   */
  keepState?: boolean | undefined;
}

type ControlledLine<P> = LedgerLine<P> & { readonly ledger: ControlledLedger };

/**
 * One rate limit, shared by all limiters of the same name: requests wait in one queue, first come, first served.
 *
 * A request does not poll: one call to the store reserves its moment. Cancelled requests and reservations are refunded.
 *
 * Make one for each name in a process: another one of that name shares the limit as another process does.
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
  readonly #line: ControlledLine<Permits<Name>>;

  /**
   * Creates a limiter. Makes no call: the state is created with the first request.
   *
   * @param options the limit, its name, and where its state is kept
   * @throws TypeError, RangeError for an invalid option
   */
  constructor(options: RateLimiterOptions<Name>) {
    // A group creates its limiters from their lines.
    const line: unknown = options instanceof LedgerLine ? options : new LedgerLine(partsOf(options, this));
    this.#line = line as ControlledLine<Permits<Name>>;
  }

  /** The limiter's name; that of a group's limiter is `name:key`. */
  get name(): string {
    return this.#line.name;
  }

  /** The queue of this process, which the operators use. It is internal: its members may change in any release. */
  get line(): Line<Permits<Name>> {
    return this.#line;
  }

  /**
   * Waits for permits.
   *
   * @param permits how many: a positive integer, or a record of the names of several limits; 1 by default
   * @param options `timeout` (ms, Infinity by default) and `signal`
   * @returns a promise of the permit, which resolves at its granted moment
   * @throws AcquireTimeoutError (`ERR_SLUICE_TIMEOUT`) as soon as it is known that the wait would exceed `timeout`
   * @throws the signal's reason if it aborts
   * @throws PermitsExceedLimitError (`ERR_SLUICE_PERMITS`) at once for more permits than the limit can ever grant
   * @throws QueueOverflowError (`ERR_SLUICE_QUEUE`) if `maxQueue` requests are waiting
   * @throws StoreUnavailableError (`ERR_SLUICE_UNAVAILABLE`) if Redis cannot be reached
   * @throws StoreError (`ERR_SLUICE_STORE`) if Redis answers with an error
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   * @throws TypeError, RangeError for an invalid argument
   * @example
   * const { waited } = await limiter.acquire(2, { timeout: 5_000 });
   */
  acquire(permits: Permits<Name> = 1, options?: AcquireOptions): Promise<Permit<Permits<Name>>> {
    try {
      const line = this.#line;
      const cost = requestCost(line, permits, options);
      const grant = options?.signal?.aborted ? undefined : line.take(cost);
      if (grant) return Promise.resolve(line.permitOf(grant, permits));
      return acquireFrom(line, permits, cost, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Acquires permits if they are available now, or within `timeout`.
   *
   * @param permits how many, as for `acquire`; 1 by default
   * @param options `timeout` (ms, 0 by default) and `signal`
   * @returns a promise of whether they were granted; false only if they are not available in time
   * @throws all errors of `acquire` but AcquireTimeoutError
   * @example
   * if (!(await limiter.tryAcquire())) return; // not now
   */
  async tryAcquire(permits: Permits<Name> = 1, options?: AcquireOptions): Promise<boolean> {
    const cost = requestCost(this.#line, permits, options);
    if (!options?.signal?.aborted && this.#line.take(cost)) return true;
    const { timeout = 0, signal } = options ?? {};
    if (timeout === 0 && !signal && this.#line.isQuiet) return (await this.decide(permits)).granted;
    return tryAcquireFrom(this.#line, permits, cost, { timeout, signal });
  }

  /**
   * Acquires permits if they are available now, and returns what an HTTP response needs. It never waits for permits.
   *
   * @param permits how many, as for `acquire`; 1 by default
   * @returns a promise of whether they were granted, the limit, the remaining permits, and the times until the permits are
   * available and until the limit is full again
   * @throws all errors of `acquire` but AcquireTimeoutError and a signal's reason
   * @example
   * const { granted, retryAfter } = await limiter.decide();
   * if (!granted) response.setHeader('Retry-After', Math.ceil(retryAfter / 1000)).status(429).end();
   */
  decide(permits: Permits<Name> = 1): Promise<Decision> {
    try {
      const line = this.#line;
      const cost = line.costOf(permits);
      const reply = line.decideNow(cost);
      if (reply) return Promise.resolve(decisionOf(line.ledger.limits, cost, reply));
      return toPromise<DecideReply>((done) => line.decide(cost, done)).then((reply) =>
        decisionOf(line.ledger.limits, cost, reply),
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Returns how many permits are available now.
   *
   * @param options `detail` (false by default): true returns a record with the permits of each limit
   * @returns a promise of whole permits, 0 or more; with several limits, of the smallest number
   * @throws StoreUnavailableError, StoreError, LimiterClosedError like `acquire`
   * @example
   * await limiter.availablePermits(); // 100
   */
  async availablePermits(options?: { detail?: false | undefined }): Promise<number>;
  async availablePermits(options: { detail: true }): Promise<Record<Name, number>>;
  async availablePermits(
    options: { detail?: boolean | undefined } = {},
  ): Promise<number | Record<Name, number>> {
    check.options(options, ['detail']);
    const { detail = false } = options;
    check.oneOf('detail', detail, [true, false]);
    const available = await toPromise<number[]>((reply) => this.#line.peek(reply));
    if (!detail) return Math.min(...available);
    return shownOf({ ...this.#line.named, record: true }, available) as Record<Name, number>;
  }

  /**
   * Refunds unused permits without their `Permit`.
   *
   * They are taken from the newest grants up to now, of any client, and never from reservations: while the fleet has
   * reservations, fewer permits may be refunded. The available permits never exceed the limit.
   *
   * @param permits how many, as for `acquire`; 0 has no effect
   * @returns a promise that resolves when the store has processed the refund
   * @throws StoreUnavailableError, StoreError, LimiterClosedError like `acquire`
   * @throws TypeError, RangeError for an invalid number of permits
   * @example
   * await limiter.release(20); // a batch of 20 was cancelled
   */
  async release(permits: Permits<Name>): Promise<void> {
    if (permits === undefined) throw check.invalid('permits', 'a number or a record of permits', permits);
    const { names, record } = this.#line.named;
    const most = names.map(() => Number.MAX_SAFE_INTEGER);
    const cost = unusedCost(names, record, most, permits, 'permits');
    if (cost.every((n) => n === 0)) return;
    await toPromise<void>((reply) => this.#line.release(cost, reply));
  }

  /**
   * Stores a limit for the whole fleet, unless one is stored. A stored limit overrides every client's own from its next call
   * on.
   *
   * @param limit a limit, or a record with the names of this limiter's limits
   * @returns a promise of whether it was stored
   * @throws StoreUnavailableError, StoreError, LimiterClosedError like `acquire`
   * @throws TypeError, RangeError for an invalid limit
   * @example
   * await limiter.trySetRate(slidingWindow({ permits: 100, interval: 1_000 }));
   */
  async trySetRate(limit: RateLimiterOptions<Name>['limit']): Promise<boolean> {
    return storeRate(this.#line, limit, { ifAbsent: true, keepState: true });
  }

  /**
   * Stores a limit for the whole fleet, and replaces a stored one. It overrides every client's own from its next call on.
   *
   * Permits that are already granted continue to count. Clients with waiting requests receive the change within two seconds:
   * reservations further ahead are made again under the new limit. Reservations within those two seconds may still be granted
   * beyond a lower limit.
   *
   * @param limit a limit, or a record with the names of this limiter's limits
   * @param options `keepState`: false forgets what was granted (true by default)
   * @returns a promise that resolves when the limit is stored
   * @throws StoreUnavailableError, StoreError, LimiterClosedError like `acquire`
   * @throws TypeError, RangeError for an invalid argument
   * @example
   * await limiter.setRate(slidingWindow({ permits: 20, interval: 1_000 }));
   */
  async setRate(limit: RateLimiterOptions<Name>['limit'], options: SetRateOptions = {}): Promise<void> {
    check.options(options, ['keepState']);
    const { keepState = true } = options;
    check.oneOf('keepState', keepState, [true, false]);
    await storeRate(this.#line, limit, { ifAbsent: false, keepState });
  }

  /**
   * Returns the limit in force, and whether it is stored for the fleet.
   *
   * @returns a promise of `{ limit, stored }`; `limit` is a record if this limiter was created with one
   * @throws StoreUnavailableError, StoreError, LimiterClosedError like `acquire`
   * @example
   * const { limit, stored } = await limiter.getRate();
   */
  async getRate(): Promise<LimitInForce<Name>> {
    const line = this.#line;
    const { limits, stored } = await toPromise<Rate>((reply) =>
      line.lookUp((done) => line.ledger.getRate(done), reply),
    );
    return { limit: shownOf(line.named, limits) as LimitInForce<Name>['limit'], stored };
  }

  /**
   * Pauses the whole fleet: no permit is granted before `ms` from now, for example after a response with Retry-After.
   *
   * Of several pauses, the one that ends last counts; `reset()` lifts it. In this process, the pause takes effect at once, for
   * reservations too. Other clients with waiting requests receive it within two seconds. Reservations within the pause are
   * made again after it, in the same order.
   *
   * @param ms milliseconds from now, from 0 to 4398046511103 (139 years)
   * @returns a promise that resolves when the store has recorded the pause
   * @throws StoreUnavailableError, StoreError, LimiterClosedError like `acquire`
   * @throws TypeError, RangeError for an invalid number of milliseconds
   * @example
   * const seconds = Number(response.headers.get('Retry-After')); // an API may send a date instead
   * if (response.status === 429 && seconds > 0) await limiter.pauseFor(seconds * 1_000);
   */
  async pauseFor(ms: number): Promise<void> {
    check.pauseLength('ms', ms);
    await toPromise<number>((reply) =>
      this.#line.dispatcher.changes.pause((done) => this.#line.ledger.pause(ms, done), reply),
    );
  }

  /**
   * Forgets all grants and reservations, and lifts a pause. A stored rate remains. With `scope: 'client'`, it forgets those of
   * this client only.
   *
   * Waiting requests get new reservations within two seconds. Reservations of the next two seconds may still be granted, and
   * do not count against the limit.
   *
   * @returns a promise that resolves when the store has processed it
   * @throws StoreUnavailableError, StoreError, LimiterClosedError like `acquire`
   * @example
   * await limiter.reset();
   */
  async reset(): Promise<void> {
    await forget(this.#line, { rate: false });
  }

  /**
   * Does what `reset()` does, and forgets the stored rate: each client's own limit is in force again.
   *
   * @returns a promise that resolves when the store has processed it
   * @throws StoreUnavailableError, StoreError, LimiterClosedError like `acquire`
   * @example
   * await limiter.delete();
   */
  async delete(): Promise<void> {
    await forget(this.#line, { rate: true });
  }

  /**
   * Returns a function that acquires permits before each call of `fn`, in the order of the calls.
   *
   * A call that fails keeps its permits, since it was made. In TypeScript, declare the types of parameters that have a default,
   * such as `(page: number = 1) => …`: they are `unknown` otherwise.
   *
   * @param fn the function to call, with the same `this` and arguments
   * @param options `permits` (1 by default; or a function of the arguments and `this`), `strategy` ('wait' by default, 'error'
   * rejects instead of waiting), `timeout` (ms, Infinity by default, 0 with the strategy 'error') and `signal`, which apply to
   * the wait for permits only
   * @returns a function with the name, the length and the arguments of `fn`, which returns a promise of its result; it rejects
   * with the errors of `acquire` (with the strategy 'error', RateLimitExceededError, `ERR_SLUICE_LIMIT`, takes the place of
   * AcquireTimeoutError), of `permits` and of `fn`
   * @throws TypeError, RangeError for an invalid argument
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
    return limitedFunction(fn, plan, lineFinder(this, undefined, plan.permits));
  }

  /**
   * The events of this limiter in this process. It completes when the limiter is closed.
   *
   * Events are not replayed, and are not created while there is no subscriber.
   *
   * @example
   * limiter.events$.pipe(filter(({ type }) => type === 'timeout')).subscribe(() => metrics.increment('throttled'));
   */
  get events$(): Observable<LimiterEvent> {
    return this.#line.events.events$;
  }

  /** Returns the figures of this limiter in this process. */
  stats(): LimiterStats {
    return this.#line.stats;
  }

  /**
   * Cancels waiting requests with LimiterClosedError, refunds reservations, and leaves no timer. It does not close the Redis
   * connection. Thousands of requests are rejected over several turns of the event loop, in which none is granted.
   *
   * @returns a promise that resolves when all calls have ended, or after a second if Redis does not reply
   * @example
   * await using limiter = new RateLimiter({ name: 'api', limit }); // otherwise: await limiter.close()
   */
  async close(): Promise<void> {
    await this.#line.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

// Functions, since V8 adds a field to each object of a class with private methods.

function storeRate<P>(
  line: ControlledLine<P>,
  limit: RateLimiterOptions['limit'],
  how: { ifAbsent: boolean; keepState: boolean },
): Promise<boolean> {
  const { limits } = sameNames(line.named, namedLimits(limit));
  return toPromise((reply) =>
    line.dispatcher.changes.send((done) => line.ledger.setRate({ limits, ...how }, done), reply),
  );
}

function forget<P>(line: ControlledLine<P>, what: { rate: boolean }): Promise<void> {
  return toPromise((reply) =>
    line.dispatcher.changes.forget((done) => line.ledger.forget(what, done), reply),
  );
}

/** Checks a request, and converts its permits. */
function requestCost<P>(line: ControlledLine<P>, permits: P, options: AcquireOptions | undefined): Cost {
  if (options !== undefined) checkAcquireOptions(options);
  return line.costOf(permits);
}
