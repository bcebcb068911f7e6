import { LimiterClosedError } from '../errors.ts';
import type { NamedLimits, Permits } from '../limits/cost.ts';
import { isLimit, type Limit } from '../limits/limit.ts';
import type { LimiterGroup } from '../port/line.ts';
import { invalid, show } from '../validate.ts';
import { KeyedLimiters } from './keyedLimiters.ts';
import { KeyedLine } from './keyedLine.ts';
import { sharedParts } from './limiterParts.ts';
import { checkOptions, namedLimits, type RateLimiterOptions } from './options.ts';
import { RateLimiter } from './RateLimiter.ts';

/** Options of a {@link RateLimiterGroup}: those of a limiter, where the limit may depend on the key. */
export interface RateLimiterGroupOptions<Name extends string = string>
  extends Omit<RateLimiterOptions<Name>, 'limit'> {
  /**
   * The limit of every key, or a function that returns the limit of a key. The function is called when the limiter of a key is
   * created. It should always return the same limit for the same key, because idle limiters are evicted and created again.
   */
  limit: RateLimiterOptions<Name>['limit'] | ((key: string) => RateLimiterOptions<Name>['limit']);
}

/** Options with one limit, so that TypeScript does not infer names of limits from the result of the function. */
type OneLimitOptions<Name extends string> = Omit<RateLimiterGroupOptions<Name>, 'limit'> & {
  limit: Limit | ((key: string) => Limit);
};

/**
 * One rate limit for each key, such as a customer or a host. Beyond 32,768 limiters, idle ones are evicted, so memory depends
 * on the number of busy keys.
 *
 * All limiters of a group share one connection; their calls of one turn of the event loop are sent in one write. Calls for
 * hundreds of waiting keys leave over several turns, so that they do not block the event loop. Two groups of the same name share
 * the limit of each key, as limiters of the same name do. A group and a limiter of the same name share nothing.
 *
 * @example
 * const group = new RateLimiterGroup({
 *   name: 'api',
 *   limit: (customer) => tokenBucket({ permits: isPremium(customer) ? 100 : 10, interval: 1_000 }),
 *   redis: new Redis(),
 * });
 * await group.get('acme').acquire();
 */
export class RateLimiterGroup<Name extends string = string> implements LimiterGroup<Permits<Name>> {
  /** The group's name. */
  readonly name: string;
  /** There is none: where a limiter is needed, the compiler's error shows this type. */
  declare readonly line?: {
    readonly 'a group needs the option `key`; elsewhere, pass group.get(key)': never;
  };
  readonly #limit: RateLimiterGroupOptions<Name>['limit'];
  /** The limits of every key, unless a function returns them. */
  readonly #named: NamedLimits | undefined;
  /** The limits that the function has returned. */
  readonly #returned = new WeakMap<object, NamedLimits>();
  readonly #limiters: KeyedLimiters<RateLimiter<Name>>;

  /**
   * Creates a group without limiters. Makes no call.
   *
   * @param options the limit or a function that returns it, the group's name, and where its state is kept
   * @throws TypeError, RangeError for an invalid option
   */
  constructor(options: OneLimitOptions<Name>);
  constructor(options: RateLimiterGroupOptions<Name>);
  constructor(options: RateLimiterGroupOptions<Name>) {
    checkOptions(options as RateLimiterOptions);
    const { name, limit } = options;
    this.name = name;
    this.#limit = limit;
    this.#named = typeof limit === 'function' ? undefined : namedLimits(limit);
    this.#limiters = new KeyedLimiters(sharedParts(options, this, true));
  }

  /** The number of limiters in the group: the busy ones, and the idle ones that have not been evicted. */
  get size(): number {
    return this.#limiters.size;
  }

  /**
   * Returns the limiter of a key, and creates it if necessary.
   *
   * It is the same limiter as long as it has requests, reservations or calls. An idle one may be evicted; a reference to it
   * stays usable.
   *
   * @param key any string
   * @returns the limiter; its name is `name:key`
   * @throws TypeError for a key that is not a string
   * @throws TypeError, RangeError if the function `limit` returns anything but a limit or a record of limits; and its errors
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   * @example
   * if (!(await group.get(request.ip).tryAcquire())) return response.status(429).end();
   */
  get(key: string): RateLimiter<Name> {
    if (typeof key !== 'string') throw invalid('key', 'a string', key);
    if (this.#limiters.closed) throw new LimiterClosedError(this.name);
    const limiter = this.#limiters.find(key);
    if (limiter && !limiter.line.closed) return limiter;
    if (limiter) this.#limiters.forget(key);
    return this.#create(key);
  }

  /**
   * Closes the limiters of all keys, as their own `close()` does, including evicted ones that have requests again. Hundreds of
   * limiters are closed over several turns of the event loop, in which no request is granted.
   *
   * @returns a promise that resolves when all calls have ended, or after a second if Redis does not reply
   * @example
   * await using group = new RateLimiterGroup({ name: 'api', limit }); // otherwise: await group.close()
   */
  async close(): Promise<void> {
    await this.#limiters.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #create(key: string): RateLimiter<Name> {
    const named = this.#named ?? this.#returnedFor(key);
    const line = new KeyedLine<Permits<Name>, RateLimiter<Name>>(this.#limiters, key, named);
    const limiter = new RateLimiter<Name>(line as never);
    line.limiter = limiter;
    this.#limiters.add(line);
    return limiter;
  }

  #returnedFor(key: string): NamedLimits {
    const limit = (this.#limit as (key: string) => RateLimiterOptions<Name>['limit'])(key);
    const known = this.#returned.get(limit);
    if (known) return known;
    const named = namedLimits(limit, `limit(${show(key)})`);
    // A record is mutable, so its limits are read each time.
    if (isLimit(limit)) this.#returned.set(limit, named);
    return named;
  }
}
