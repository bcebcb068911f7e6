// Fault 6: `release` can raise the available permits above the rate, or lose them, or allow twice the rate in one
// window.
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { redissonSuite, takeOneByOne } from './redissonSuite.ts';
import { scriptCalls, stateOf } from './state.ts';

const test = redissonSuite('release');

const rate = 10;
const interval = 10_000;

test('the original: a released permit is returned again when it expires, above the rate', async ({ jvm }) => {
  const before = jvm({ clockOffset: -interval });
  await before.setRate(RateType.OVERALL, rate, interval);
  await before.acquire(5);
  await before.release(5);
  const client = jvm();
  assert.is(await client.availablePermits(), rate + 5);
  assert.is(await takeOneByOne(client, rate + 5), rate + 5);
});

test('ours: a permit released by a JVM client is not returned again', async ({ jvm, ours }) => {
  const before = jvm({ clockOffset: -interval });
  await before.setRate(RateType.OVERALL, rate, interval);
  await before.acquire(5);
  await before.release(5);
  const limiter = ours();
  assert.is(await limiter.availablePermits(), rate);
  assert.is(await takeOneByOne(limiter, rate + 1), rate);
});

test('ours: a release never raises the available permits above the rate', async ({ ours, jvm }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, rate, interval);
  await limiter.release(5);
  assert.is(await limiter.availablePermits(), rate);
  await limiter.acquire(5);
  await limiter.release(7);
  // A JVM client would trust any stored value.
  assert.is(await jvm().availablePermits(), rate);
  assert.is(await limiter.availablePermits(), rate);
});

test('the original: loses the other permits when one of the released ones expires', async ({ jvm }) => {
  const at = (ago: number) => jvm({ clockOffset: -ago });
  await at(interval).setRate(RateType.OVERALL, rate, interval);
  await at(interval).acquire();
  await at(interval).release(1);
  const later = at(interval / 2);
  for (let i = 0; i < 8; i++) {
    await later.acquire();
    await later.release(1);
  }
  assert.is(await later.availablePermits(), rate);
  assert.is(await takeOneByOne(jvm(), rate), 2);
});

test('ours: loses nothing when released permits would expire', async ({ ours, redis }) => {
  const limiter = ours();
  const short = 300;
  await limiter.setRate(RateType.OVERALL, rate, short);
  for (let i = 0; i < 9; i++) {
    await limiter.acquire();
    await limiter.release(1);
  }
  assert.is(await limiter.availablePermits(), rate);
  await sleep(short + 10);
  assert.is(await takeOneByOne(limiter, rate), rate);
  const { value, used } = await stateOf(redis);
  assert.equal({ value, used }, { value: 0, used: rate });
});

test('the original: grants the rate twice in a window that contains a release', async ({ jvm }) => {
  const at = (ago: number) => jvm({ clockOffset: -ago });
  await at(interval).setRate(RateType.OVERALL, rate, interval);
  await at(interval).acquire(rate);
  await at(interval / 2).release(rate);
  assert.ok(await at(interval / 2).tryAcquire(rate));
  assert.ok(await at(0).tryAcquire(rate));
});

test('ours: a release returns its permits once', async ({ ours, jvm, redis }) => {
  const window = 1_500;
  const before = jvm({ clockOffset: 500 - window });
  await before.setRate(RateType.OVERALL, rate, window);
  await before.acquire(rate);
  const limiter = ours();
  await limiter.release(rate);
  assert.ok(await limiter.tryAcquire(rate));
  // By now the first ones would have expired.
  await sleep(500);
  assert.not(await limiter.tryAcquire());
  assert.is((await stateOf(redis)).used, rate);
});

test('ours: a release of part of an entry keeps the rest', async ({ ours, jvm, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, rate, interval);
  await limiter.acquire(4);
  await limiter.acquire(5);
  await limiter.release(7);
  const { value, log, used } = await stateOf(redis);
  assert.equal([value, log.length, used], [8, 1, 2]);
  assert.is(await jvm().availablePermits(), 8);
});

test('ours: a release of no permits does nothing, and makes no call', async ({ ours, redis }) => {
  const limiter = ours();
  // Not even to check for a rate.
  await limiter.release(0);
  await limiter.setRate(RateType.OVERALL, rate, interval);
  await limiter.acquire(4);
  const before = await scriptCalls(redis);
  await limiter.release(0);
  assert.is(await scriptCalls(redis), before);
  assert.is(await limiter.availablePermits(), rate - 4);
});

test.run();
