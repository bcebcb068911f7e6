// States of a limiter that the scripts treat separately.
import type { Redis } from 'ioredis';
import { type Permit, RateType, type RedissonRateLimiter } from '../../src/index.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { api } from './redissonSuite.ts';
import { fillLog, serverNow } from './state.ts';

export const clientId = 'c0ffee';
const minute = 60_000;
const keys = redissonKeys(api, clientId);

/** A limiter in its state. */
export interface Stage {
  readonly type: RateType;
  readonly rate: number;
  /** Grants made here that count. */
  readonly live: number;
  readonly granted: readonly Permit<number>[];
}

type Prepare = (limiter: RedissonRateLimiter, redis: Redis) => Promise<Stage>;

/** Grants 3 and 2 permits of a rate. */
async function grant(
  limiter: RedissonRateLimiter,
  {
    type = RateType.OVERALL,
    rate = 10,
    keepAlive = 0,
  }: { type?: RateType; rate?: number; keepAlive?: number } = {},
): Promise<Stage> {
  await limiter.setRate(type, rate, minute, { keepAlive });
  const granted = [await limiter.acquire(3), await limiter.acquire(2)];
  return { type, rate, live: 5, granted };
}

/** Adds grants of 1 and 2 permits, and shifts them in time. */
async function alsoAt(limiter: RedissonRateLimiter, redis: Redis, stage: Stage, ms: number): Promise<void> {
  const log = stage.type === RateType.OVERALL ? keys.permits : keys.clientPermits;
  const before = await redis.zrangeBuffer(log, '0', '-1');
  await limiter.acquire(1);
  await limiter.acquire(2);
  for (const member of await redis.zrangeBuffer(log, '0', '-1'))
    if (!before.some((one) => one.equals(member)))
      await redis.zadd(log, (await serverNow(redis)) + ms, member);
}

const withExpired =
  (options?: Parameters<typeof grant>[1]): Prepare =>
  async (limiter, redis) => {
    const stage = await grant(limiter, options);
    await alsoAt(limiter, redis, stage, -2 * minute);
    return stage;
  };

/** Counting takes more than one call. */
const lostBesideLongLog: Prepare = async (limiter, redis) => {
  const size = 8_100;
  const stage = await grant(limiter, { rate: size + 10 });
  await fillLog(redis, size, await serverNow(redis));
  await redis.del(keys.value);
  return { ...stage, live: size + 5 };
};

export const stages: Record<string, Prepare> = {
  'a `value` that is sealed': (limiter) => grant(limiter),
  'a `value` that is sealed, and some that has expired': withExpired(),
  'a keep-alive, and some that has expired': withExpired({ keepAlive: 10 * minute }),
  'a client of its own, and some that has expired': withExpired({ type: RateType.PER_CLIENT }),
  async 'a client of its own, beside a config that ends'(limiter) {
    const stage = await grant(limiter, { type: RateType.PER_CLIENT });
    await limiter.expire(10 * minute);
    await limiter.availablePermits();
    return stage;
  },
  async 'all has expired'(limiter, redis) {
    const stage = await grant(limiter);
    for (const member of await redis.zrangeBuffer(keys.permits, '0', '-1'))
      await redis.zadd(keys.permits, (await serverNow(redis)) - 2 * minute, member);
    return { ...stage, live: 0 };
  },
  async 'some was granted by a clock that is ahead'(limiter, redis) {
    const stage = await grant(limiter);
    await alsoAt(limiter, redis, stage, minute / 2);
    return { ...stage, live: 8 };
  },
  async 'very much has expired, and little has not'(limiter, redis) {
    const stage = await grant(limiter, { rate: 1_310 });
    await fillLog(redis, 1_300, (await serverNow(redis)) - 2 * minute);
    await redis.set(keys.value, 5);
    return stage;
  },
  async '`value` is lost'(limiter, redis) {
    const stage = await grant(limiter);
    await redis.del(keys.value);
    return stage;
  },
  '`value` is lost beside a long log': lostBesideLongLog,
  async 'a long log of which some was counted'(limiter, redis) {
    const stage = await lostBesideLongLog(limiter, redis);
    await limiter.availablePermits();
    return stage;
  },
};
