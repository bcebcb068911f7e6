// Fault 1: time comes from the client.
import sinon from 'sinon';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { redissonSuite, takeOneByOne } from './redissonSuite.ts';
import { serverNow, stateOf } from './state.ts';

const test = redissonSuite('clock');
test.after.each(() => sinon.restore());

const rate = 5;
const minute = 60_000;

test('the original: a client whose clock is ahead takes the rate a second time', async ({ jvm }) => {
  const inTime = jvm();
  const ahead = jvm({ clockOffset: minute });
  await inTime.setRate(RateType.OVERALL, rate, minute);
  assert.is(await takeOneByOne(inTime, rate), rate);
  assert.is(await takeOneByOne(ahead, rate), rate);
});

test('ours: a client whose clock is ahead takes only available permits', async ({ ours }) => {
  const [inTime, ahead] = [ours(), ours()];
  await inTime.setRate(RateType.OVERALL, rate, minute);
  assert.is(await takeOneByOne(inTime, rate), rate);
  sinon.useFakeTimers({ now: Date.now() + minute, toFake: ['Date'] });
  assert.is(await takeOneByOne(ahead, rate), 0);
});

const second = 1_000;

test('the original: a client whose clock was an hour ahead delays the others by an hour', async ({ jvm }) => {
  const ahead = jvm({ clockOffset: 60 * minute });
  await ahead.setRate(RateType.OVERALL, rate, second);
  assert.ok(await ahead.tryAcquire(rate));
  const wait = (await jvm().ask(1))!;
  assert.ok(wait > 59 * minute, `${wait} ms`);
});

test('ours: a grant of a client whose clock was an hour ahead counts from now', async ({ jvm, ours }) => {
  const ahead = jvm({ clockOffset: 60 * minute });
  await ahead.setRate(RateType.OVERALL, rate, second);
  assert.ok(await ahead.tryAcquire(rate));
  const limiter = ours();
  assert.is(await limiter.availablePermits(), 0);
  assert.not(await limiter.tryAcquire());
  assert.ok(await limiter.tryAcquire(rate, minute));
});

test('ours: the same if a JVM client has only taken, and nothing in the log has expired', async ({
  jvm,
  ours,
  redis,
}) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, rate, minute);
  assert.ok(await limiter.tryAcquire());
  assert.ok(await jvm({ clockOffset: minute / 2 }).tryAcquire());
  assert.ok(await limiter.tryAcquire());
  const { log, value } = await stateOf(redis);
  const now = await serverNow(redis);
  assert.is(log.filter(({ at }) => at <= Math.ceil(now)).length, 3);
  assert.is(value, rate - 3);
});

test.run();
