import type { SchedulerClock } from '../clock.ts';
import { listOf, type NamedLimits } from '../limits/cost.ts';
import { assertLimit, isLimit, isRate, type Limit } from '../limits/limit.ts';
import { type FallbackOptions, fallbackOf } from '../stores/fallback/fallbackOptions.ts';
import { checkRedisClient, type RedisClient } from '../stores/redis/redisClient.ts';
import type { Store } from '../stores/store.ts';
import * as check from '../validate.ts';

/** Options of a {@link RateLimiter}. */
export interface RateLimiterOptions<Name extends string = string> {
  /** The identity of the limit across the fleet: any non-empty string. */
  name: string;
  /** The limit, or a record of several limits, which grant a request together or not at all. */
  limit: Limit | Readonly<Record<Name, Limit>>;
  /**
   * An ioredis `Redis` or `Cluster`, or the adapter of another client: {@link nodeRedis}, {@link valkeyGlide}. The limiter does
   * not close it.
   *
   * @default none: the limit applies to this process, and needs no server
   */
  redis?: RedisClient | undefined;
  /**
   * The prefix of all keys, which begin with `{prefix:name}`.
   *
   * @default 'sluice'
   */
  prefix?: string | undefined;
  /**
   * `'fleet'`: all clients share the limit. `'client'`: each client has the whole limit. Redisson: OVERALL, PER_CLIENT.
   *
   * @default 'fleet'
   */
  scope?: 'fleet' | 'client' | undefined;
  /**
   * The identity of this process among the clients that share the limit.
   *
   * @default random, one per Redis connection object
   */
  clientId?: string | undefined;
  /**
   * What happens while Redis cannot be reached, or is too slow: options, or their `mode`. Only with `redis`. A fallback does
   * not hide errors that Redis answers with.
   *
   * @default none: a call that cannot be answered fails
   */
  fallback?: FallbackOptions | 'local' | 'reject' | 'allow' | undefined;
  /**
   * Milliseconds that one call to Redis may take without a fallback: may be fractional, or Infinity, which waits as long as
   * the Redis client does. It is counted from when the call is sent: of a burst, 1,024 calls of a limiter or a
   * group are in progress at a time. After that, the call fails with `StoreUnavailableError`; the reservations of a later reply are
   * refunded. With a fallback, the fallback's own `timeout` counts.
   *
   * @default 5_000
   */
  storeTimeout?: number | undefined;
  /**
   * The most requests that may wait in this process: a positive integer, or Infinity.
   *
   * @default Infinity
   */
  maxQueue?: number | undefined;
  /**
   * A {@link memoryStore} that several limiters of this process share. Not together with `redis`.
   *
   * @default one of its own
   */
  store?: Store | undefined;
  /**
   * An RxJS scheduler whose clock and timers the limiter uses, such as a `TestScheduler`.
   *
   * @default `performance.now` and `setTimeout`
   */
  scheduler?: SchedulerClock | undefined;
}

/** The default of `storeTimeout`: milliseconds. */
export const defaultStoreTimeout = 5_000;

const known = [
  'name',
  'limit',
  'redis',
  'prefix',
  'scope',
  'clientId',
  'fallback',
  'storeTimeout',
  'maxQueue',
  'store',
  'scheduler',
];

/** Throws for an invalid option; the message has its name, what is expected, and what was given. */
export function checkOptions(options: RateLimiterOptions<string>): void {
  check.options(options, known);
  const { name, redis, prefix, scope, clientId, fallback, storeTimeout, maxQueue, store, scheduler } =
    options;
  check.nonEmptyString('name', name);
  if (prefix !== undefined && typeof prefix !== 'string') throw check.invalid('prefix', 'a string', prefix);
  if (scope !== undefined) check.oneOf('scope', scope, ['fleet', 'client']);
  if (clientId !== undefined) check.nonEmptyString('clientId', clientId);
  if (maxQueue !== undefined) check.positiveIntegerOrInfinity('maxQueue', maxQueue);
  if (redis !== undefined) checkRedisClient(redis);
  if (store !== undefined) check.methods('store', store, 'a memoryStore()', ['open']);
  if (scheduler !== undefined)
    check.methods('scheduler', scheduler, 'an RxJS scheduler', ['now', 'schedule']);
  if (fallback !== undefined) fallbackOf(fallback);
  if (storeTimeout !== undefined) check.duration('storeTimeout', storeTimeout);
  if (fallback !== undefined && redis === undefined)
    throw new TypeError('fallback: expected redis with it, got none');
  if (redis !== undefined && store !== undefined)
    throw new TypeError('store: expected either redis or store, got both');
}

/** The limits of an option, with their names. Throws for anything but a limit or a record of limits. */
export function namedLimits(limit: unknown, option = 'limit'): NamedLimits {
  if (!isRecord(limit)) {
    assertLimit(option, limit);
    return { record: false, names: [''], limits: [limit] };
  }
  // Sorted, since the order of the names is part of the stored state.
  const names = Object.keys(limit).sort();
  if (names.length === 0)
    throw new RangeError(`${option}: expected a limit, or a record with at least one, got {}`);
  const limits = names.map((name) => {
    const one = limit[name];
    assertLimit(`${option}.${name}`, one);
    return one;
  });
  return { record: true, names, limits };
}

/** Throws unless the limits of a rate have the names of the limiter's own limits. */
export function sameNames(own: NamedLimits, rate: NamedLimits): NamedLimits {
  const shown = ({ record, names }: NamedLimits) => (record ? `a record of ${listOf(names)}` : 'one limit');
  if (shown(own) !== shown(rate))
    throw new TypeError(`limit: expected ${shown(own)}, as the limiter was created with, got ${shown(rate)}`);
  return rate;
}

/** Whether an option is meant as a record of limits: an object with a kind, or with permits and interval, is one limit. */
function isRecord(limit: unknown): limit is Readonly<Record<string, unknown>> {
  if (typeof limit !== 'object' || limit === null || Array.isArray(limit) || isLimit(limit)) return false;
  if (isRate(limit) && !isLimit(limit.permits) && !isLimit(limit.interval)) return false;
  return typeof (limit as { kind?: unknown }).kind !== 'string';
}
