import { checkRedisClient, type RedisClient } from '../stores/redis/redisClient.ts';
import * as check from '../validate.ts';
import { fitsOneSlot } from './keys.ts';
import { RateType } from './RateType.ts';

/** Options of a {@link RedissonRateLimiter}. */
export interface RedissonRateLimiterOptions {
  /**
   * The client that owns the permits with `PER_CLIENT`: a part of its keys.
   *
   * @default random, one per Redis connection object
   */
  clientId?: string | undefined;
  /**
   * Milliseconds that one call to Redis may take; then it fails with StoreUnavailableError, and permits that it still takes in
   * Redis are refunded. `Infinity` waits as long as the Redis client does.
   *
   * @default 5_000
   */
  storeTimeout?: number | undefined;
}

/** Options of {@link RedissonRateLimiter.trySetRate}. */
export interface RedissonRateOptions {
  /**
   * Milliseconds after the last use at which the limiter expires: at least the interval, or 0 for never.
   *
   * @default 0
   */
  keepAlive?: number | undefined;
}

/** Options of {@link RedissonRateLimiter.setRate} and {@link RedissonRateLimiter.updateRate}. */
export interface RedissonSetRateOptions extends RedissonRateOptions {
  /**
   * Whether permits that were granted within the new interval continue to count, against the new rate.
   *
   * @default false
   */
  keepState?: boolean | undefined;
}

/** The rate of a {@link RedissonRateLimiter}, as it is stored. */
export interface RedissonConfig {
  /** Whether all clients share the rate, or each client has it alone. */
  readonly type: RateType;
  /** Permits per `interval`. */
  readonly rate: number;
  /** Milliseconds. */
  readonly interval: number;
  /** Milliseconds, or 0 for never. */
  readonly keepAlive: number;
}

/** Throws a TypeError or RangeError for invalid arguments of the constructor. */
export function checkLimiter(redis: unknown, name: unknown, options: RedissonRateLimiterOptions): void {
  checkRedisClient(redis);
  check.nonEmptyString('name', name);
  if ((redis as RedisClient).nodes && !fitsOneSlot(name))
    throw check.invalid(
      'name',
      'no lone brace on a cluster, where the keys would lie in several slots',
      name,
      RangeError,
    );
  check.options(options, ['clientId', 'storeTimeout']);
  const { clientId, storeTimeout } = options;
  if (clientId !== undefined) check.nonEmptyString('clientId', clientId);
  if (storeTimeout !== undefined) check.duration('storeTimeout', storeTimeout);
}

/** The rate that the arguments describe, with its defaults. Throws a TypeError or RangeError if they are invalid. */
export function rateOf(
  type: RateType,
  rate: number,
  interval: number,
  options: RedissonSetRateOptions,
  known: readonly string[],
): RedissonConfig & { keepState: boolean } {
  if (!Object.values(RateType).includes(type))
    throw check.invalid(
      'type',
      'RateType.OVERALL or RateType.PER_CLIENT',
      type,
      typeof type === 'number' ? RangeError : TypeError,
    );
  check.positiveInteger('rate', rate);
  check.positiveInteger('interval', interval);
  check.options(options, known);
  const { keepAlive = 0, keepState = false } = options;
  check.wholeUpTo('keepAlive', keepAlive, Number.MAX_SAFE_INTEGER);
  if (keepAlive > 0 && keepAlive < interval)
    throw check.invalid('keepAlive', `0, or at least the interval, ${interval} ms`, keepAlive, RangeError);
  check.oneOf('keepState', keepState, [true, false]);
  return { type, rate, interval, keepAlive, keepState };
}
