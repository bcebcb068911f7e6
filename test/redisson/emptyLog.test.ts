// Fault 8: a nil first entry crashes the script.
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { api, type OnRedisson, redissonSuite } from './redissonSuite.ts';

const test = redissonSuite('empty log');

const interval = 10_000;

/** b had taken the only permit when another client raised the rate; that permit has expired since. */
async function raised(jvm: OnRedisson['jvm']): Promise<void> {
  const other = jvm();
  await other.setRate(RateType.PER_CLIENT, 1, interval);
  await jvm({ clientId: 'b', clockOffset: -interval }).acquire();
  await other.setRate(RateType.PER_CLIENT, 10, interval);
}

test('the original: the script fails after another client has raised the rate', async ({ jvm }) => {
  await raised(jvm);
  assert.match((await rejection(jvm({ clientId: 'b' }).tryAcquire(5))).message, /nil/);
});

test('ours: grants the permit after another client has raised the rate', async ({ jvm, ours }) => {
  await raised(jvm);
  const limiter = ours({ clientId: 'b' });
  assert.ok(await limiter.tryAcquire(5));
  assert.is(await limiter.availablePermits(), 5);
});

/** All permits were taken; then the log was lost, as by an eviction. */
async function emptied(jvm: OnRedisson['jvm'], redis: Redis): Promise<void> {
  const client = jvm();
  await client.setRate(RateType.OVERALL, 5, interval);
  await client.acquire(5);
  await redis.del(redissonKeys(api).permits);
}

test('the original: the script fails for ever after the log is lost', async ({ jvm, redis }) => {
  await emptied(jvm, redis);
  assert.match((await rejection(jvm({ clockOffset: 100 * interval }).tryAcquire())).message, /nil/);
});

test('ours: starts a new log after the log is lost', async ({ jvm, ours, redis }) => {
  await emptied(jvm, redis);
  const limiter = ours();
  assert.ok(await limiter.tryAcquire(5));
  assert.not(await limiter.tryAcquire());
});

test('ours: counts the log after `value` is lost', async ({ jvm, ours, redis }) => {
  const client = jvm();
  await client.setRate(RateType.OVERALL, 5, interval);
  await client.acquire(4);
  await redis.del(redissonKeys(api).value);
  const limiter = ours();
  assert.not(await limiter.tryAcquire(2));
  assert.ok(await limiter.tryAcquire(1));
});

test.run();
