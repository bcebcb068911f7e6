// Fault 3: every waiting request wakes and calls at the same instant.
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { type Client, redissonSuite } from './redissonSuite.ts';
import { scriptCalls, stateOf } from './state.ts';

const test = redissonSuite('waiters');

const rate = 4;
const interval = 100;
const waiters = 40;

/** The number of scripts that the server runs until all requests are granted. */
async function callsToServe(client: Client, redis: Redis): Promise<number> {
  await client.setRate(RateType.OVERALL, rate, interval);
  const before = await scriptCalls(redis);
  await Promise.all(Array.from({ length: waiters }, () => client.acquire()));
  return (await scriptCalls(redis)) - before;
}

test('the original: every waiting request calls whenever one of them can be granted', async ({
  jvm,
  redis,
}) => {
  const calls = await callsToServe(jvm(), redis);
  // 40 call, then the 36 that were not granted, then 32, and so on.
  assert.ok(calls >= 220, `asked ${calls} times`);
});

test('ours: only the head of the queue calls, for all waiting requests', async ({ ours, redis }) => {
  const calls = await callsToServe(ours(), redis);
  assert.ok(calls <= 2.5 * waiters, `asked ${calls} times`);
});

test('ours: grants in the order of the requests', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, rate, interval);
  const served: number[] = [];
  await Promise.all(Array.from({ length: 20 }, (_, i) => limiter.acquire().then(() => served.push(i))));
  assert.equal(
    served,
    Array.from({ length: 20 }, (_, i) => i),
  );
});

test('ours: a small request does not pass a large one', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 5, 500);
  await limiter.acquire(3);
  const served: number[] = [];
  await Promise.all([4, 1, 2].map((permits) => limiter.acquire(permits).then(() => served.push(permits))));
  assert.equal(served, [4, 1, 2]);
});

test('ours: a cancelled request lets later ones pass, and gets nothing', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 1, 500);
  await limiter.acquire();
  const answers = await Promise.all([
    limiter.tryAcquire(1, 100),
    limiter.tryAcquire(1, 60_000),
    limiter.tryAcquire(1, 100),
    limiter.tryAcquire(),
  ]);
  assert.equal(answers, [false, true, false, false]);
  assert.is((await stateOf(redis)).used, 1);
});

test.run();
