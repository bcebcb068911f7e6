import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { ask } from './sharing.ts';

const rate = { permits: 5, interval: 1000 };
const open = (limit: Limit = slidingWindow(rate)) => new RateLimiter({ name: 'api', limit });

timed('during a pause nothing is available, and a decision has the time until its end', async (clock) => {
  const limiter = open();
  await limiter.acquire(2);
  await limiter.pauseFor(3000);
  await clock.tickAsync(500);
  assert.not(await limiter.tryAcquire());
  assert.is(await limiter.availablePermits(), 0);
  assert.equal(await limiter.decide(), {
    granted: false,
    limit: 5,
    remaining: 0,
    retryAfter: 2500,
    resetAfter: 2500,
  });
  await clock.tickAsync(2500);
  assert.is(await limiter.availablePermits(), 5);
  assert.ok((await limiter.decide(5)).granted);
});

timed(
  'a request whose timeout ends before the pause is rejected at once, and is not charged',
  async (clock) => {
    const limiter = open();
    await limiter.pauseFor(2000);
    const [inTime, late] = [2000, 1999].map((timeout) => fateOf(limiter.acquire(5, { timeout })));
    await clock.tickAsync(0);
    assert.instance(late.reason, AcquireTimeoutError);
    assert.is(late.at, 0);
    await clock.tickAsync(2000);
    assert.is(inTime.at, 2000);
  },
);

timed(
  'a reserved request whose timeout ends before the pause is rejected when the pause begins',
  async (clock) => {
    const limiter = open();
    await limiter.acquire(5);
    const fates = [5000, 1200, Infinity, 2000].map((timeout) => fateOf(limiter.acquire(1, { timeout })));
    await clock.tickAsync(300);
    await limiter.pauseFor(2000);
    assert.equal(times(fates), [undefined, 300, undefined, 300]);
    for (const { reason } of [fates[1], fates[3]]) assert.instance(reason, AcquireTimeoutError);
    await clock.tickAsync(5000);
    assert.equal(times(fates), [2300, 300, 2300, 300]);
  },
);

timed('reset lifts a pause for waiting requests, and forgets what was granted', async (clock) => {
  const limiter = open();
  await limiter.acquire(5);
  await limiter.pauseFor(60_000);
  const fates = ask(limiter, 6);
  await clock.tickAsync(500);
  assert.is(fates[0].at, undefined);
  await limiter.reset();
  await clock.tickAsync(5000);
  assert.equal(times(fates), [500, 500, 500, 500, 500, 1500]);
});

timed('delete lifts a pause too', async () => {
  const limiter = open();
  await limiter.pauseFor(60_000);
  await limiter.delete();
  assert.ok(await limiter.tryAcquire(5));
});

timed('with limits of several names, all of them pause', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: { a: slidingWindow(rate), b: tokenBucket(rate) } });
  await limiter.pauseFor(1000);
  assert.equal(await limiter.availablePermits({ detail: true }), { a: 0, b: 0 });
  const fates = [{ a: 1 }, { b: 1 }].map((permits) => fateOf(limiter.acquire(permits)));
  await clock.tickAsync(1000);
  assert.equal(times(fates), [1000, 1000]);
});

test.run();
