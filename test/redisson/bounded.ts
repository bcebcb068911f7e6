import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateType, type RedissonRateLimiter } from '../../src/index.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { api } from './redissonSuite.ts';
import { fillLog, longestScript } from './state.ts';

/** Long enough that no entry expires meanwhile. */
const interval = 3_600_000;

/** Asserts that with `size` entries of one moment, each call takes a fraction of the time of reading all of them. */
export async function checkBounded(limiter: RedissonRateLimiter, redis: Redis, size: number): Promise<void> {
  await limiter.setRate(RateType.OVERALL, 2 * size, interval);
  const permits = await Promise.all([limiter.acquire(), limiter.acquire(), limiter.acquire()]);
  await fillLog(redis, size, permits[0].grantedAt);
  const works: [string, () => Promise<unknown>][] = [
    ['a request', () => limiter.tryAcquire()],
    ['a request for all', () => limiter.tryAcquire(2 * size)],
    ['several requests', () => Promise.all([1, 2, 3].map((n) => limiter.tryAcquire(n)))],
    ['availablePermits', () => limiter.availablePermits()],
    ['refund', async () => permits.pop()?.refund()],
    ['release', () => limiter.release(1)],
    ['setRate', () => limiter.setRate(RateType.OVERALL, 3 * size, interval, { keepState: true })],
  ];
  const read = "return #redis.call('zrange', KEYS[1], 0, -1, 'withscores')";
  for (const [what, work] of works) {
    // The better of two: on a busy machine, one measurement may be slow.
    const all: number[] = [];
    const own: number[] = [];
    for (let i = 0; i < 2; i++) {
      all.push(await longestScript(redis, () => redis.eval(read, 1, redissonKeys(api).permits)));
      own.push(await longestScript(redis, work));
    }
    assert.ok(Math.min(...own) < Math.max(...all) / 2, `${what}: ${own} ms, and ${all} to read all`);
  }
}
