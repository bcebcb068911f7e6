import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { ask } from './sharing.ts';

const rate = { permits: 5, interval: 1000 };
const open = (limit: Limit = slidingWindow(rate)) => new RateLimiter({ name: 'api', limit });

const limits: [string, Limit, number[]][] = [
  ['sliding window', slidingWindow(rate), [0, 3000, 3000, 3000, 3000, 3000, 4000]],
  ['fixed window', fixedWindow(rate), [0, 3000, 3000, 3000, 3000, 3000, 4000]],
  ['token bucket', tokenBucket(rate), [0, 3000, 3000, 3000, 3000, 3000, 3200]],
  ['leaky bucket', leakyBucket(rate), [0, 3000, 3200, 3400, 3600, 3800, 4000]],
];

for (const [kind, limit, moments] of limits)
  timed(
    `nothing is granted before a pause ends, and at its end what the limit allows: ${kind}`,
    async (clock) => {
      const limiter = open(limit);
      const first = ask(limiter, 1);
      await limiter.pauseFor(3000);
      const fates = [...first, ...ask(limiter, 6)];
      await clock.tickAsync(10_000);
      assert.equal(times(fates), moments);
      const granted = fates.map(({ value }) => value!.grantedAt - 1_700_000_000_000);
      assert.equal(granted, moments);
    },
  );

timed(
  'a bucket may be full at the end of a pause: a request behind a reserved one is not denied',
  async (clock) => {
    const limiter = open(tokenBucket(rate));
    await limiter.pauseFor(1000);
    const fates = [1, 4].map((permits) => fateOf(limiter.acquire(permits, { timeout: 1100 })));
    await clock.tickAsync(2000);
    assert.equal(times(fates), [1000, 1000]);
    assert.ok(fates.every(({ value }) => value));
  },
);

timed('a pause after a reset is reported again, even if it ends at the same time', async () => {
  const limiter = open();
  const paused: number[] = [];
  limiter.events$.subscribe((event) => event.type === 'paused' && paused.push(event.ms));
  for (let i = 0; i < 2; i++) {
    await limiter.pauseFor(3000);
    await limiter.reset();
  }
  assert.equal(paused, [3000, 3000]);
});

timed('reservations within a pause are made again after it, in their order', async (clock) => {
  const limiter = open();
  const fates = ask(limiter, 12);
  await clock.tickAsync(400);
  await limiter.pauseFor(1100);
  fates.push(...ask(limiter, 2));
  await clock.tickAsync(10_000);
  // Five were granted at 0: without the pause, five more would have been at 1000.
  assert.equal(times(fates), [0, 0, 0, 0, 0, 1500, 1500, 1500, 1500, 1500, 2500, 2500, 2500, 2500]);
});

timed('a pause of less than a microsecond has no effect', async () => {
  const limiter = open();
  await limiter.pauseFor(0.0009);
  assert.ok(await limiter.tryAcquire());
  await limiter.pauseFor(0.001);
  assert.not(await limiter.tryAcquire());
});

timed('a reservation within a pause is charged once', async (clock) => {
  const limiter = open();
  await limiter.acquire(5);
  const fates = ask(limiter, 2);
  await limiter.pauseFor(1500);
  await clock.tickAsync(1500);
  assert.equal(times(fates), [1500, 1500]);
  assert.is(await limiter.availablePermits(), 3);
  await clock.tickAsync(1000);
  assert.is(await limiter.availablePermits(), 5);
});

timed('a reservation after the end of the pause keeps its moment', async (clock) => {
  const limiter = open();
  const fates = ask(limiter, 7);
  await clock.tickAsync(100);
  await limiter.pauseFor(300);
  await clock.tickAsync(5000);
  assert.equal(times(fates), [0, 0, 0, 0, 0, 1000, 1000]);
});

timed('of several pauses the one that ends last counts', async (clock) => {
  const limiter = open();
  await limiter.pauseFor(2000);
  await limiter.pauseFor(500);
  const [fate] = ask(limiter, 1);
  await clock.tickAsync(1000);
  await limiter.pauseFor(900);
  await clock.tickAsync(999);
  assert.is(fate.at, undefined);
  await clock.tickAsync(1);
  assert.is(fate.at, 2000);
  await limiter.pauseFor(100);
  await limiter.pauseFor(700);
  const [later] = ask(limiter, 1);
  await clock.tickAsync(2000);
  assert.is(later.at, 2700);
});

timed('a pause of no time changes nothing, and lifts none', async (clock) => {
  const limiter = open();
  const fates = ask(limiter, 6);
  await limiter.pauseFor(0);
  assert.is((await limiter.decide()).retryAfter, 1000);
  await clock.tickAsync(1000);
  assert.equal(times(fates), [0, 0, 0, 0, 0, 1000]);
  await limiter.pauseFor(500);
  await limiter.pauseFor(0);
  assert.not(await limiter.tryAcquire());
  await clock.tickAsync(500);
  assert.ok(await limiter.tryAcquire());
});

timed('the end of a pause may be a fraction of a millisecond off: it is rounded up', async (clock) => {
  const limiter = open();
  await limiter.pauseFor(99.25);
  const [fate] = ask(limiter, 1);
  await clock.tickAsync(99);
  assert.is(fate.at, undefined);
  await clock.tickAsync(1);
  assert.is(fate.at, 100);
});

test.run();
