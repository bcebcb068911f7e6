// Checked by `npm run types` with `exactOptionalPropertyTypes`: optional fields may be `undefined`, too.
import { of } from 'rxjs';
import {
  acquirePermits,
  type FallbackOptions,
  type FromThrottledByKeyOptions,
  fixedWindow,
  fromThrottled,
  limited,
  pauseOn,
  permits$,
  RateLimiter,
  RateLimiterGroup,
  type RateLimiterGroupOptions,
  type RateLimiterOptions,
  RateType,
  type RedissonRateLimiter,
  type RedissonRateLimiterOptions,
  slidingWindow,
  type ThrottleDistributedOptions,
  throttleDistributed,
  tokenBucket,
  type WrapOptions,
} from '../../src/index.ts';

type Optional<T> = { [K in keyof T as T extends Record<K, T[K]> ? never : K]-?: undefined };
/** The optional fields of a type, each with the value undefined. */
declare function nothing<T>(): Optional<T>;

const limit = slidingWindow({ permits: 1, interval: 1, resolution: undefined });
fixedWindow({ permits: 1, interval: 1, align: undefined });
tokenBucket({ permits: 1, interval: 1, burst: undefined });
const one = new RateLimiter({ name: 'a', limit, ...nothing<RateLimiterOptions>() });
const two = new RateLimiter({ name: 'a', limit: { requests: limit, tokens: limit }, redis: undefined });
const group = new RateLimiterGroup({ name: 'a', limit, ...nothing<RateLimiterGroupOptions>() });
const fallback: FallbackOptions = nothing<FallbackOptions>();
new RateLimiter({ name: 'a', limit, fallback });

one.acquire(undefined, { timeout: undefined, signal: undefined });
one.tryAcquire(undefined, { timeout: undefined, signal: undefined });
two.acquire({ requests: 1, tokens: undefined });
one.availablePermits({ detail: undefined });
one.setRate(limit, { keepState: undefined });
one.wrap(() => 1, nothing<WrapOptions>());
limited(one, nothing<WrapOptions>());
limited(group, { key: () => 'a', ...nothing<WrapOptions>() });

const throttle = nothing<ThrottleDistributedOptions<string>>();
of('a').pipe(throttleDistributed(one, throttle), throttleDistributed(group, { key: String, ...throttle }));
of('a').pipe(acquirePermits(one, undefined, { timeout: undefined, signal: undefined }));
of('a').pipe(pauseOn(one, () => 1, { max: undefined }));
permits$(one, undefined, { timeout: undefined, signal: undefined });
fromThrottled('a', one, { permits: undefined, timeout: undefined, project: undefined, maxAge: undefined });
fromThrottled('a', group, { key: String, ...nothing<FromThrottledByKeyOptions>() });

declare const redisson: RedissonRateLimiter;
redisson.trySetRate(RateType.OVERALL, 1, 1, { keepAlive: undefined });
redisson.setRate(RateType.OVERALL, 1, 1, { keepAlive: undefined, keepState: undefined });
export const options: RedissonRateLimiterOptions = nothing<RedissonRateLimiterOptions>();
