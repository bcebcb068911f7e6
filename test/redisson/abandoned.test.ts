// Fault 10: a cancelled or timed-out wait loses its permit.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { LimiterClosedError, permits$, RateType } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { until } from '../support/until.ts';
import { type Client, redissonSuite } from './redissonSuite.ts';
import { serverNow, stateOf } from './state.ts';

const test = redissonSuite('abandoned');

// So long that no request is granted while a busy machine keeps a test from going on.
const interval = 1_000;

/** The one permit is taken, and expires after the interval. */
async function taken(client: Client): Promise<void> {
  await client.setRate(RateType.OVERALL, 1, interval);
  await client.acquire();
}

/** The moment of the newest entry of the log, after the first one has expired and a later call would have finished. */
async function newestLater(redis: Redis, first: number): Promise<number | undefined> {
  await until('the first has expired', async () => (await serverNow(redis)) > first + interval);
  await sleep(100);
  return (await stateOf(redis)).log.at(-1)?.at;
}

test('the original: a wait that is given up continues, and takes a permit', async ({ jvm, redis }) => {
  const client = jvm();
  await taken(client);
  const first = (await stateOf(redis)).log[0].at;
  await rejection(client.acquire(1, AbortSignal.timeout(20)));
  await until('a permit is taken', async () => {
    const { log } = await stateOf(redis);
    return log.length > 0 && log.at(-1)!.at >= first + interval;
  });
});

test('ours: a cancelled wait takes nothing', async ({ ours, redis }) => {
  const limiter = ours();
  await taken(limiter);
  const first = (await stateOf(redis)).log[0].at;
  const subscription = permits$(limiter).subscribe();
  await sleep(20);
  subscription.unsubscribe();
  const newest = await newestLater(redis, first);
  assert.ok(newest === undefined || newest === first);
  assert.is(await limiter.availablePermits(), 1);
});

test('ours: a timed-out wait takes nothing', async ({ ours, redis }) => {
  const limiter = ours();
  await taken(limiter);
  const first = (await stateOf(redis)).log[0].at;
  assert.not(await limiter.tryAcquire(1, 20));
  const newest = await newestLater(redis, first);
  assert.ok(newest === undefined || newest === first);
  assert.is(await limiter.availablePermits(), 1);
});

test('ours: a wait whose signal is aborted takes nothing', async ({ ours, redis }) => {
  const limiter = ours();
  await taken(limiter);
  const first = (await stateOf(redis)).log[0].at;
  const { name } = await rejection(limiter.acquire(1, { signal: AbortSignal.timeout(20) }));
  assert.is(name, 'TimeoutError');
  const newest = await newestLater(redis, first);
  assert.ok(newest === undefined || newest === first);
});

test('ours: refunds a request cancelled in flight', async ({ ours, jvm, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 5, 60_000);
  const subscription = permits$(limiter, 3).subscribe();
  // A turn of the loop later the call has been sent, and has not been answered.
  await new Promise(setImmediate);
  subscription.unsubscribe();
  // A call over the same connection: the first one has been answered by then.
  await limiter.availablePermits();
  await until('it has left the log', async () => (await stateOf(redis)).used === 0);
  // A JVM client would trust any stored value.
  assert.is(await jvm().availablePermits(), 5);
  assert.is(await limiter.availablePermits(), 5);
});

test('ours: closing ends waiting requests, and takes nothing', async ({ ours, redis }) => {
  const limiter = ours();
  await taken(limiter);
  const first = (await stateOf(redis)).log[0].at;
  const waiting = [1, 2, 3].map(() => rejection(limiter.acquire()));
  await sleep(20);
  await limiter.close();
  for (const error of await Promise.all(waiting)) assert.instance(error, LimiterClosedError);
  const newest = await newestLater(redis, first);
  assert.ok(newest === undefined || newest === first);
});

test.run();
