import type { Redis } from 'ioredis';
import {
  fixedWindow,
  type Limit,
  RateLimiter,
  RateLimiterGroup,
  type RateLimiterOptions,
  RateType,
  RedissonRateLimiter,
  slidingWindow,
  tokenBucket,
} from '../../src/index.ts';

const limits: Record<string, Limit> = {
  // A resolution of one millisecond: each grant has an entry of its own.
  sliding: slidingWindow({ permits: 30, interval: 60, resolution: 1 }),
  fixed: fixedWindow({ permits: 10, interval: 30 }),
  bucket: tokenBucket({ permits: 10, interval: 30 }),
};

/** Every call of the public surface, which rejects if one of them does. */
export async function allCalls(redis: Redis): Promise<void> {
  for (const [name, limit] of Object.entries(limits)) await callsOf({ name, limit, redis }, 1, limit);
  await callsOf({ name: 'record', limit: limits, redis }, { sliding: 1, fixed: 1 }, limits);
  await callsOf({ name: 'own', limit: limits.sliding, redis, scope: 'client' }, 1, limits.sliding);
  const group = new RateLimiterGroup({ name: 'group', limit: limits.bucket, redis });
  await Promise.all(['a', 'b', '__proto__'].map((key) => group.get(key).acquire(3)));
  await group.close();
}

async function callsOf<N extends string>(
  options: RateLimiterOptions<N>,
  permits: never | number | Record<string, number>,
  rate: Limit | Record<string, Limit>,
): Promise<void> {
  const [limiter, other] = [1, 2].map((n) => new RateLimiter({ ...options, clientId: `client ${n}` }));
  const cost = permits as 1;
  const all = [limiter, other].flatMap((one) => Array.from({ length: 40 }, () => one.acquire(cost)));
  // Reservations of both, some of which are cancelled.
  const [first, second, third] = await Promise.all(all);
  await Promise.allSettled([limiter, other].map((one) => one.acquire(cost, { timeout: 1 })));
  await Promise.all([first.refund(), second.settle(cost), third.refund()]);
  await limiter.decide(cost);
  await limiter.tryAcquire(cost, { timeout: 500 });
  await limiter.availablePermits();
  await limiter.release(cost);
  await limiter.pauseFor(5);
  await limiter.trySetRate(rate as Limit);
  await limiter.setRate(rate as Limit);
  await limiter.getRate();
  await other.acquire(cost);
  await limiter.reset();
  await limiter.delete();
  await Promise.all([limiter.close(), other.close()]);
}

/** Every call on the keys of Redisson. */
export async function allRedissonCalls(redis: Redis, name: string): Promise<void> {
  for (const type of [RateType.OVERALL, RateType.PER_CLIENT]) {
    const limiter = new RedissonRateLimiter(redis, name, { clientId: 'me' });
    await limiter.trySetRate(type, 5, 40, { keepAlive: 60_000 });
    const permits = await Promise.all(Array.from({ length: 12 }, () => limiter.acquire()));
    await permits[11].refund();
    await limiter.tryAcquire(5, 100);
    await limiter.tryAcquire(2);
    await limiter.release(1);
    await limiter.availablePermits();
    await limiter.setRate(type, 6, 40, { keepState: true });
    await limiter.updateRate(type, 5, 40);
    await limiter.getConfig();
    await limiter.expire(60_000);
    await limiter.remainTimeToLive();
    await limiter.clearExpire();
    await limiter.isExists();
    await limiter.delete();
    await limiter.close();
  }
}
