// Fault 2: the wait is computed from the oldest entry alone.
import { setTimeout as sleep } from 'node:timers/promises';
import { lastValueFrom } from 'rxjs';
import * as assert from 'uvu/assert';
import { type AcquireTimeoutError, permits$, RateType } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { type Client, redissonSuite, takeOneByOne } from './redissonSuite.ts';
import { scriptCalls, serverNow, stateOf } from './state.ts';

const test = redissonSuite('wait');

const rate = 10;
const interval = 1_000;

/** Takes the whole rate, one permit after the other, so that they come back one after the other. */
async function takeSpaced(client: Client): Promise<void> {
  await client.setRate(RateType.OVERALL, rate, interval);
  for (let i = 0; i < rate; i++) {
    assert.is(await takeOneByOne(client, 1), 1);
    await sleep(20);
  }
}

test('the original: who needs several permits is told to come for the first', async ({ jvm, redis }) => {
  const client = jvm();
  await takeSpaced(client);
  const before = await scriptCalls(redis);
  await client.acquire(rate);
  const calls = (await scriptCalls(redis)) - before;
  assert.ok(calls >= 5, `asked ${calls} times`);
});

test('ours: who needs several permits asks once more, when all of them are there', async ({
  ours,
  redis,
}) => {
  const limiter = ours();
  await takeSpaced(limiter);
  const newest = (await stateOf(redis)).log.at(-1)!.at;
  const before = await scriptCalls(redis);
  await limiter.acquire(rate);
  assert.ok((await serverNow(redis)) >= newest + interval);
  const calls = (await scriptCalls(redis)) - before;
  assert.ok(calls <= 3, `asked ${calls} times`);
});

test('ours: who cannot be served in time is told how long all of them take', async ({ ours, redis }) => {
  const limiter = ours();
  await takeSpaced(limiter);
  const newest = (await stateOf(redis)).log.at(-1)!.at;
  const { retryAfter } = (await rejection(
    lastValueFrom(permits$(limiter, rate, { timeout: 1 })),
  )) as AcquireTimeoutError;
  const now = await serverNow(redis);
  assert.ok(now + retryAfter! >= newest + interval - 1, `${retryAfter} ms`);
});

test.run();
