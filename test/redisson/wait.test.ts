// Fault 2: the wait is computed from the oldest entry alone.
import type { Redis } from 'ioredis';
import { lastValueFrom } from 'rxjs';
import * as assert from 'uvu/assert';
import { type AcquireTimeoutError, permits$, RateType } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { api, type Client, redissonSuite } from './redissonSuite.ts';
import { scriptCalls, serverNow } from './state.ts';

const test = redissonSuite('wait');

const rate = 10;
const minute = 60_000;

/**
 * The whole rate was granted, one permit after the other within the last half of the interval, the last of them just
 * now. Returns the moment at which the last one expires, by the server's clock.
 */
async function takeSpaced(client: Client, redis: Redis, interval: number): Promise<number> {
  await client.setRate(RateType.OVERALL, rate, interval);
  for (let i = 0; i < rate; i++) await client.acquire();
  const { permits } = redissonKeys(api);
  const now = Math.floor(await serverNow(redis));
  const moments = Array.from({ length: rate }, (_, i) => now - (i * interval) / rate / 2);
  for (const [i, member] of (await redis.zrangeBuffer(permits, '0', '-1')).entries())
    await redis.zadd(permits, moments[i], member);
  return now + interval;
}

test('the original: a request for several permits retries at the expiry of the first', async ({
  jvm,
  redis,
}) => {
  const client = jvm();
  const last = await takeSpaced(client, redis, minute);
  const wait = (await client.ask(rate))!;
  // The others expire in the 27 seconds after that.
  assert.ok(wait < last - (await serverNow(redis)) - minute / 4, `${wait} ms`);
});

test('ours: a request for several permits retries once, at the expiry of the last', async ({
  ours,
  redis,
}) => {
  const limiter = ours();
  const last = await takeSpaced(limiter, redis, 600);
  const before = await scriptCalls(redis);
  await limiter.acquire(rate);
  assert.ok((await serverNow(redis)) >= last);
  const calls = (await scriptCalls(redis)) - before;
  assert.ok(calls <= 3, `asked ${calls} times`);
});

test('ours: a request refused for its timeout receives the wait for all of its permits', async ({
  ours,
  redis,
}) => {
  const limiter = ours();
  const last = await takeSpaced(limiter, redis, minute);
  const before = await serverNow(redis);
  const { retryAfter } = (await rejection(
    lastValueFrom(permits$(limiter, rate, { timeout: minute / 2 })),
  )) as AcquireTimeoutError;
  const after = await serverNow(redis);
  // The wait was computed between the two reads of the server's clock.
  assert.ok(retryAfter! <= last - before + 0.001 && retryAfter! >= last - after - 0.001, `${retryAfter} ms`);
});

test.run();
