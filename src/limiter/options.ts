import type { Cluster, Redis } from 'ioredis';
import type { SchedulerClock } from '../clock.ts';
import type { NamedLimits } from '../limits/cost.ts';
import { assertLimit, isLimit, isRate, type Limit } from '../limits/limit.ts';
import { type FallbackOptions, fallbackOf } from '../stores/fallback/fallbackOptions.ts';
import type { Store } from '../stores/store.ts';
import * as check from '../validate.ts';

/** Options of a {@link RateLimiter}. */
export interface RateLimiterOptions<Name extends string = string> {
  /** The limit's identity across the fleet: any non-empty string. */
  name: string;
  /** The limit; or a record of several, which are granted all or nothing, atomically. */
  limit: Limit | Readonly<Record<Name, Limit>>;
  /** An ioredis `Redis` or `Cluster`, which stays yours to close. Left out: the limit holds in this process, without a server. */
  redis?: Redis | Cluster | undefined;
  /**
   * What every key begins with: `{prefix:name}`.
   *
   * @default 'sluice'
   */
  prefix?: string | undefined;
  /**
   * Whether the fleet shares the limit, or each client has the whole of it for itself: Redisson's OVERALL and PER_CLIENT.
   *
   * @default 'fleet'
   */
  scope?: 'fleet' | 'client' | undefined;
  /**
   * Who this process is among those that share the near future fairly.
   *
   * @default random, one per Redis connection object
   */
  clientId?: string | undefined;
  /**
   * What to do while Redis cannot be reached, or is too slow: only with `redis`. A mode stands for its options, all others
   * by default. Errors that Redis answers with are never hidden by it.
   *
   * @default none: a call that cannot be answered fails
   */
  fallback?: FallbackOptions | 'local' | 'reject' | 'allow' | undefined;
  /**
   * Milliseconds that one call to Redis may take without a fallback; then it fails with StoreUnavailableError, and what it
   * still reserves in Redis is refunded. `Infinity` waits as long as ioredis does. With a fallback, its `timeout` counts.
   *
   * @default 5_000
   */
  storeTimeout?: number | undefined;
  /**
   * Requests that may wait in this process: a positive integer, or Infinity.
   *
   * @default Infinity
   */
  maxQueue?: number | undefined;
  /**
   * A {@link memoryStore} that limiters of this process share; not together with `redis`.
   *
   * @default one of its own
   */
  store?: Store | undefined;
  /**
   * An RxJS scheduler, such as a `TestScheduler`, whose clock and timers the limiter uses.
   *
   * @default a monotonic clock and setTimeout, looked up when used
   */
  scheduler?: SchedulerClock | undefined;
}

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

/** Refuses options that cannot be meant, each with its name, what was expected, and what came. */
export function checkOptions(options: RateLimiterOptions<string>): void {
  if (options === undefined) throw new TypeError('options: expected an object, got undefined');
  check.options('options', options);
  check.knownOptions(options, known);
  const { name, redis, prefix, scope, clientId, fallback, storeTimeout, maxQueue, store, scheduler } =
    options;
  check.nonEmptyString('name', name);
  if (prefix !== undefined && typeof prefix !== 'string')
    throw new TypeError(`prefix: expected a string, got ${check.show(prefix)}`);
  if (scope !== undefined) check.oneOf('scope', scope, ['fleet', 'client']);
  if (clientId !== undefined) check.nonEmptyString('clientId', clientId);
  if (maxQueue !== undefined) check.positiveIntegerOrInfinity('maxQueue', maxQueue);
  if (redis !== undefined) check.methods('redis', redis, 'an ioredis Redis or Cluster', ['defineCommand']);
  if (store !== undefined) check.methods('store', store, 'a memoryStore()', ['open']);
  if (scheduler !== undefined)
    check.methods('scheduler', scheduler, 'an RxJS scheduler', ['now', 'schedule']);
  if (fallback !== undefined) fallbackOf(fallback);
  if (storeTimeout !== undefined) check.duration('storeTimeout', storeTimeout);
  if (fallback !== undefined && redis === undefined)
    throw new TypeError('fallback: expected no fallback without redis');
  if (redis !== undefined && store !== undefined)
    throw new TypeError('store: expected no store together with redis');
}

/** The limits of a limiter with their names; refuses what is neither a limit nor a record of limits, by the option's name. */
export function namedLimits(limit: unknown, option = 'limit'): NamedLimits {
  if (!isRecord(limit)) {
    assertLimit(option, limit);
    return { record: false, names: [''], limits: [limit] };
  }
  // In one order, whatever the order of the record: another one would be other limits.
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

/** The limits of a rate; refuses those of other names than the limiter's, which its permits could not be charged to. */
export function sameNames(own: NamedLimits, rate: NamedLimits): NamedLimits {
  const shown = ({ record, names }: NamedLimits) =>
    record ? `a record of ${names.map((name) => JSON.stringify(name)).join(', ')}` : 'one limit';
  if (shown(own) !== shown(rate))
    throw new TypeError(`limit: expected ${shown(own)}, as the limiter was made with, got ${shown(rate)}`);
  return rate;
}

/** Whether this is meant as several limits; what says its kind, or has plain permits per interval, looks like one limit. */
function isRecord(limit: unknown): limit is Readonly<Record<string, unknown>> {
  if (typeof limit !== 'object' || limit === null || Array.isArray(limit) || isLimit(limit)) return false;
  if (isRate(limit) && !isLimit(limit.permits) && !isLimit(limit.interval)) return false;
  return typeof (limit as { kind?: unknown }).kind !== 'string';
}
