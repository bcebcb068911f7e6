// Fault 6: `release` can raise the available permits above the rate, or lose them, or allow twice the rate in one window.
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { redissonSuite, takeOneByOne } from './redissonSuite.ts';
import { scriptCalls, stateOf } from './state.ts';

const test = redissonSuite('release');

const rate = 10;
const interval = 10_000;

test('the original: what was released comes back once more when it expires, above the rate', async ({
  jvm,
}) => {
  const before = jvm({ clockOffset: -interval });
  await before.setRate(RateType.OVERALL, rate, interval);
  await before.acquire(5);
  await before.release(5);
  const client = jvm();
  assert.is(await client.availablePermits(), rate + 5);
  assert.is(await takeOneByOne(client, rate + 5), rate + 5);
});

test('ours: what a JVM client has released does not come back a second time', async ({ jvm, ours }) => {
  const before = jvm({ clockOffset: -interval });
  await before.setRate(RateType.OVERALL, rate, interval);
  await before.acquire(5);
  await before.release(5);
  const limiter = ours();
  assert.is(await limiter.availablePermits(), rate);
  assert.is(await takeOneByOne(limiter, rate + 1), rate);
});

test('ours: a release never raises what is available above the rate', async ({ ours, jvm }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, rate, interval);
  await limiter.release(5);
  assert.is(await limiter.availablePermits(), rate);
  await limiter.acquire(5);
  await limiter.release(7);
  // A JVM client would believe whatever is written.
  assert.is(await jvm().availablePermits(), rate);
  assert.is(await limiter.availablePermits(), rate);
});

test('the original: when one of those released expires, the others are lost', async ({ jvm }) => {
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

test('ours: when those released would expire, nothing is lost', async ({ ours, redis }) => {
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

test('the original: the rate is granted twice in a window when a release falls into it', async ({ jvm }) => {
  const at = (ago: number) => jvm({ clockOffset: -ago });
  await at(interval).setRate(RateType.OVERALL, rate, interval);
  await at(interval).acquire(rate);
  await at(100).release(rate);
  assert.ok(await at(100).tryAcquire(rate));
  assert.ok(await at(0).tryAcquire(rate));
});

test('ours: a release gives its permits back once', async ({ ours, jvm, redis }) => {
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

test('ours: a release of part of an entry leaves the rest', async ({ ours, jvm, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, rate, interval);
  await limiter.acquire(4);
  await limiter.acquire(5);
  await limiter.release(7);
  const { value, log, used } = await stateOf(redis);
  assert.equal([value, log.length, used], [8, 1, 2]);
  assert.is(await jvm().availablePermits(), 8);
});

test('ours: a release of no permits does nothing, and asks nobody', async ({ ours, redis }) => {
  const limiter = ours();
  // Not even whether there is a rate.
  await limiter.release(0);
  await limiter.setRate(RateType.OVERALL, rate, interval);
  await limiter.acquire(4);
  const before = await scriptCalls(redis);
  await limiter.release(0);
  assert.is(await scriptCalls(redis), before);
  assert.is(await limiter.availablePermits(), rate - 4);
});

test.run();
