// Fault 9: too many results to unpack.
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { checkBounded } from './bounded.ts';
import { type OnRedisson, redissonSuite } from './redissonSuite.ts';
import { fillLog, serverNow, stateOf } from './state.ts';

const test = redissonSuite('many entries');

const count = 10_000;
const interval = 60_000;

/** The log is full, with an entry for each permit, taken so many milliseconds ago. */
async function full(jvm: OnRedisson['jvm'], redis: Redis, ago: number): Promise<void> {
  await jvm().setRate(RateType.OVERALL, count, interval);
  await fillLog(redis, count, (await serverNow(redis)) - ago);
}

test('the original: the script fails on thousands of entries that expire at once', async ({ jvm, redis }) => {
  await full(jvm, redis, interval);
  const error = await rejection(jvm({ version: '3.15.2' }).tryAcquire());
  assert.match(error.message, /too many results to unpack/);
});

test('ours: thousands of permits that expire at once are available', async ({ jvm, ours, redis }) => {
  await full(jvm, redis, interval);
  const limiter = ours();
  assert.ok(await limiter.tryAcquire(count));
  assert.not(await limiter.tryAcquire());
  assert.is((await stateOf(redis)).value, 0);
});

test('ours: thousands of expired permits are available next to thousands that count', async ({
  jvm,
  ours,
  redis,
}) => {
  await jvm().setRate(RateType.OVERALL, count, interval);
  const now = await serverNow(redis);
  await fillLog(redis, count / 2, now - 2 * interval, now - interval);
  await fillLog(redis, count / 2, now);
  const limiter = ours();
  assert.is(await limiter.availablePermits(), count / 2);
  assert.ok(await limiter.tryAcquire(count / 2));
  assert.not(await limiter.tryAcquire());
  const { value, used } = await stateOf(redis);
  assert.is(value, count - used);
});

test('ours: counts thousands of entries that expire at once', async ({ jvm, ours, redis }) => {
  await full(jvm, redis, interval);
  assert.is(await ours().availablePermits(), count);
});

test('ours: releases thousands of permits at once', async ({ jvm, ours, redis }) => {
  await full(jvm, redis, 0);
  const limiter = ours();
  await limiter.release(count - 1);
  assert.is(await limiter.availablePermits(), count - 1);
  assert.is((await stateOf(redis)).used, 1);
});

test('ours: sets a rate and keeps thousands of entries', async ({ jvm, ours, redis }) => {
  await full(jvm, redis, 0);
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, count + 5, interval, { keepState: true });
  assert.is(await limiter.availablePermits(), 5);
  await limiter.setRate(RateType.OVERALL, count + 5, interval);
  assert.is(await limiter.availablePermits(), count + 5);
});

test('ours: no call reads all of a long log of one moment', ({ ours, redis }) =>
  checkBounded(ours(), redis, 100_000));

test.run();
