import { LimiterClosedError } from '../errors.ts';
import type { Limit } from '../limits/limit.ts';
import type { Store } from '../stores/store.ts';
import { show } from '../validate.ts';
import { clientIdOf } from './clientId.ts';
import type { Permits } from './cost.ts';
import type { LimiterGroup } from './line.ts';
import { memberStore } from './memberStore.ts';
import { type Member, Members } from './members.ts';
import { checkOptions, namedLimits, type RateLimiterOptions } from './options.ts';
import { RateLimiter } from './RateLimiter.ts';
import { storeOf } from './storeOf.ts';

/** Options of a {@link RateLimiterGroup}: those of a limiter, and the limit may depend on the key. */
export interface RateLimiterGroupOptions<Name extends string = string>
  extends Omit<RateLimiterOptions<Name>, 'limit'> {
  /**
   * The limit of every key; or a function of the key, which is called whenever a limiter is made for it. A limiter that was
   * idle for a while is made anew: for the same key the function should answer the same.
   */
  limit: RateLimiterOptions<Name>['limit'] | ((key: string) => RateLimiterOptions<Name>['limit']);
}

/** Of one limit for every key there is no name to be inferred: of what a function answers, one would be. */
type OneLimitOptions<Name extends string> = Omit<RateLimiterGroupOptions<Name>, 'limit'> & {
  limit: Limit | ((key: string) => Limit);
};

/**
 * One rate limit for each key, such as a customer or a host: a million keys over time need the memory of those that are
 * busy, and some room.
 *
 * All limiters of a group share one connection, and what they ask for in one turn leaves in one write. Two groups of one
 * name share the limit of each key, as limiters of one name do; a group and a limiter of one name share nothing.
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
  readonly #limit: RateLimiterGroupOptions<Name>['limit'];
  /** What the options say of every limiter. */
  readonly #common: Omit<RateLimiterGroupOptions<Name>, 'name' | 'limit' | 'redis' | 'store' | 'fallback'>;
  readonly #store: Store;
  readonly #members = new Members<RateLimiter<Name>>();
  #closed = false;

  /**
   * @param options the limit or a function that chooses it, the group's name, and where it is kept
   * @throws TypeError, RangeError for an option of the wrong type or out of range
   */
  constructor(options: OneLimitOptions<Name>);
  constructor(options: RateLimiterGroupOptions<Name>);
  constructor(options: RateLimiterGroupOptions<Name>) {
    checkOptions(options as RateLimiterOptions);
    if (typeof options.limit !== 'function') namedLimits(options.limit);
    const { name, limit, redis, store, fallback, ...others } = options;
    const { clientId = clientIdOf(redis ?? this) } = options;
    this.name = name;
    this.#limit = limit;
    this.#common = { ...others, clientId };
    // One for all: a limiter that was dropped and is made anew finds in it what was granted.
    this.#store = storeOf({ redis, store, fallback });
  }

  /** How many limiters the group looks after: those that are busy, and some that were used lately. */
  get size(): number {
    return this.#members.size;
  }

  /**
   * The limiter of a key, made when it is first asked for.
   *
   * It is the same one for as long as anything waits, is booked or is under way at it. One that is idle is dropped in time;
   * whoever has kept it may go on with it.
   *
   * @param key any string
   * @returns the limiter; it names itself `name:key` in messages
   * @throws TypeError for a key that is no string
   * @throws TypeError, RangeError when the function `limit` answers anything but a limit or a record of limits; and what it
   * throws
   * @throws LimiterClosedError (`ERR_SLUICE_CLOSED`) after `close()`
   * @example
   * if (!(await group.get(request.ip).tryAcquire())) return response.status(429).end();
   */
  get(key: string): RateLimiter<Name> {
    if (typeof key !== 'string') throw new TypeError(`key: expected a string, got ${show(key)}`);
    if (this.#closed) throw new LimiterClosedError(this.name);
    const limiter = this.#members.find(key);
    if (limiter && !limiter.line.closed) return limiter;
    this.#members.forget(key);
    return this.#create(key);
  }

  /**
   * Closes the limiters of all keys, as their own `close()` does: also those that the group has dropped and someone has kept.
   *
   * @returns once nothing is under way any more, or after a second where Redis does not answer
   * @example
   * await using group = new RateLimiterGroup({ name: 'api', limit }); // or, by hand: await group.close()
   */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#members.limiters.map((limiter) => limiter.close()));
    this.#members.clear();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #create(key: string): RateLimiter<Name> {
    const limit = typeof this.#limit === 'function' ? this.#limit(key) : this.#limit;
    namedLimits(limit, `limit(${show(key)})`);
    const use = () => {
      if (this.#closed) return new LimiterClosedError(this.name);
      this.#members.keep(member);
      return undefined;
    };
    const limiter = new RateLimiter<Name>({
      ...this.#common,
      name: `${this.name}:${key}`,
      limit,
      store: memberStore(this.#store, this.name, key, use),
    });
    const member: Member<RateLimiter<Name>> = { key, limiter, used: false };
    this.#members.keep(member);
    return limiter;
  }
}
