import { LimiterClosedError } from '../errors.ts';
import type { NamedLimits, Permits } from '../limits/cost.ts';
import { isLimit, type Limit } from '../limits/limit.ts';
import { LimiterEvents } from '../port/events.ts';
import type { LimiterGroup } from '../port/line.ts';
import type { LedgerConfig, Store } from '../stores/store.ts';
import { show } from '../validate.ts';
import { clientIdOf } from './clientId.ts';
import { KeyedLedger, type OpenLedger } from './keyedLedger.ts';
import { KeyedLimiter, KeyedLimiters } from './keyedLimiters.ts';
import { LimiterParts, type LimiterSetting, settingOf } from './limiterParts.ts';
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
  /** The limits of every key, where one answer holds for all. */
  readonly #named: NamedLimits | undefined;
  /** What the limiters of keys have been given by the function. */
  readonly #answers = new WeakMap<object, NamedLimits>();
  readonly #setting: LimiterSetting;
  /** What the store is told of every limiter. */
  readonly #config: Omit<LedgerConfig, 'key' | 'names' | 'limits'>;
  readonly #store: Store;
  /** Whether a fallback may take the store's place, which is told to those who listen. */
  readonly #changesService: boolean;
  readonly #members: KeyedLimiters<RateLimiter<Name>>;

  /**
   * @param options the limit or a function that chooses it, the group's name, and where it is kept
   * @throws TypeError, RangeError for an option of the wrong type or out of range
   */
  constructor(options: OneLimitOptions<Name>);
  constructor(options: RateLimiterGroupOptions<Name>);
  constructor(options: RateLimiterGroupOptions<Name>) {
    checkOptions(options as RateLimiterOptions);
    const { name, limit, redis, store, fallback, storeTimeout, prefix = 'sluice', scope } = options;
    const { clientId = clientIdOf(redis ?? this) } = options;
    this.name = name;
    this.#limit = limit;
    this.#named = typeof limit === 'function' ? undefined : namedLimits(limit);
    // Its limiters are told of the group's store: others may share that.
    this.#setting = { ...settingOf(options), alone: false };
    this.#config = { name, prefix, scope, clientId, clock: this.#setting.clock };
    // One for all: a limiter that was dropped and is made anew finds in it what was granted.
    this.#store = storeOf({ redis, store, fallback, storeTimeout });
    this.#changesService = fallback !== undefined;
    this.#members = new KeyedLimiters(name);
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
    if (this.#members.closed) throw new LimiterClosedError(this.name);
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
    this.#members.closed = true;
    await Promise.all(this.#members.limiters.map((limiter) => limiter.close()));
    this.#members.clear();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #create(key: string): RateLimiter<Name> {
    const named = this.#named ?? this.#answerFor(key);
    const name = `${this.name}:${key}`;
    const events = this.#changesService ? new LimiterEvents(name) : undefined;
    const open = events ? this.#openTelling(events) : this.#open;
    const member = new KeyedLimiter(key, this.#members);
    const ledger = new KeyedLedger(member, named, open);
    const parts = new LimiterParts(name, named, ledger, this.#setting, events);
    const limiter = new RateLimiter<Name>(parts as never);
    member.limiter = limiter;
    this.#members.keep(member);
    return limiter;
  }

  readonly #open: OpenLedger = (key, { names, limits }) => {
    const { name, prefix, scope, clientId, clock } = this.#config;
    return this.#store.open({ name, key, prefix, scope, clientId, names, limits, clock });
  };

  /** Opens a ledger that tells when a fallback takes the store's place. */
  #openTelling(events: LimiterEvents): OpenLedger {
    return (key, { names, limits }) =>
      this.#store.open({
        ...this.#config,
        key,
        names,
        limits,
        onServiceChange: (change) => events.serviceChanged(change),
      });
  }

  /** What the function says of a key. */
  #answerFor(key: string): NamedLimits {
    const limit = (this.#limit as (key: string) => RateLimiterOptions<Name>['limit'])(key);
    const known = this.#answers.get(limit);
    if (known) return known;
    const named = namedLimits(limit, `limit(${show(key)})`);
    // A limit never changes; a record may.
    if (isLimit(limit)) this.#answers.set(limit, named);
    return named;
  }
}
