// Fault 5: `value` drifts from the log.
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { api, type OnRedisson, redissonSuite, takeOneByOne } from './redissonSuite.ts';
import { stateOf } from './state.ts';

const test = redissonSuite('drift');

const rate = 10;
const interval = 10_000;

/** Three were granted more than an interval ago, but their random bytes were the same: the log has only one entry. */
async function collided(jvm: OnRedisson['jvm']): Promise<void> {
  const client = jvm({ clockOffset: -2 * interval, random: () => Buffer.alloc(16) });
  await client.setRate(RateType.OVERALL, rate, interval);
  assert.is(await takeOneByOne(client, 3), 3);
}

test('the original: permits whose entry was lost never come back', async ({ jvm }) => {
  await collided(jvm);
  assert.is(await takeOneByOne(jvm(), rate), rate - 2);
});

test('ours: permits whose entry was lost come back', async ({ jvm, ours, redis }) => {
  await collided(jvm);
  const limiter = ours();
  assert.is(await limiter.availablePermits(), rate);
  assert.is(await takeOneByOne(limiter, rate + 1), rate);
  const { value, used } = await stateOf(redis);
  assert.equal({ value, used }, { value: 0, used: rate });
});

/** The rate was lowered from 10 to 5 when 3 and 5 were taken; by now the 3 have expired. */
async function overdrawn(jvm: OnRedisson['jvm']): Promise<void> {
  const at = (ago: number) => jvm({ clockOffset: -ago });
  await at(interval).setRate(RateType.OVERALL, 10, interval);
  await at(interval).acquire(3);
  await at(interval / 2).acquire(5);
  assert.ok(await at(interval / 4).updateRate(RateType.OVERALL, 5, interval, { keepState: true }));
}

test('the original: a lowered rate gives back what it had not yet taken away', async ({ jvm, redis }) => {
  await overdrawn(jvm);
  assert.ok(await jvm().tryAcquire(3));
  assert.is((await stateOf(redis)).used, 8);
});

test('ours: a lowered rate holds', async ({ jvm, ours, redis }) => {
  await overdrawn(jvm);
  const limiter = ours();
  assert.is(await limiter.availablePermits(), 0);
  assert.not(await limiter.tryAcquire());
  assert.is((await stateOf(redis)).used, 5);
});

test('ours: what a JVM client has made of `value` beside a long log is put right', async ({
  jvm,
  ours,
  redis,
}) => {
  const client = jvm();
  const entries = 400;
  await client.setRate(RateType.OVERALL, 10 * entries, interval);
  await Promise.all(Array.from({ length: entries }, () => client.acquire(5)));
  // Fewer are taken than the log says, but no more are free than if each entry held one permit.
  await redis.incrby(redissonKeys(api).value, entries);
  const limiter = ours();
  // A long log is counted now and then: this one by a call in a hundred.
  const agree = async () => {
    const { value, used } = await stateOf(redis);
    return value === 10 * entries - used;
  };
  for (let calls = 0; calls < 4_000 && !(await agree()); calls++) await limiter.tryAcquire();
  assert.ok(await agree());
  assert.is(await limiter.availablePermits(), await client.availablePermits());
});

test('ours: the seal of `value` says for which rate it is right, and goes when anything is made of it', async ({
  jvm,
  ours,
  redis,
}) => {
  const limiter = ours();
  const client = jvm();
  const seal = async () => Number(await redis.call('PEXPIRETIME', redissonKeys(api).value));
  await limiter.setRate(RateType.OVERALL, rate, interval);
  await limiter.acquire();
  const sealed = await seal();
  assert.ok(sealed > Date.now());
  await limiter.updateRate(RateType.OVERALL, rate + 7, interval, { keepState: true });
  assert.is(await seal(), sealed + 7);
  await client.acquire();
  await limiter.acquire();
  await limiter.release(1);
  assert.is(await seal(), sealed + 7);
  await client.release(1);
  assert.is(await seal(), -1);
  await limiter.acquire();
  assert.is(await seal(), sealed + 7);
});

test.run();
