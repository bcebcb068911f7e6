// Two clients with limits of different kinds under one name, as during a rolling deploy: each call converts the state.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';

const rate = { permits: 50, interval: 60_000 };
const windows: [string, Limit][] = [
  ['a sliding window', slidingWindow(rate)],
  ['a fixed window', fixedWindow(rate)],
];
const others: [string, Limit][] = [
  ...windows,
  ['a leaky bucket', leakyBucket(rate)],
  ['a bucket with a burst of 10', tokenBucket({ ...rate, burst: 10 })],
  ['a slow leaky bucket', leakyBucket({ permits: 1, interval: 60_000 })],
  ['a window of one permit', fixedWindow({ permits: 1, interval: 60_000 })],
];

for (const [kind, limit] of windows)
  for (const [other, otherLimit] of others)
    timed(`${kind} keeps its grants when a client with ${other} calls`, async () => {
      const store = memoryStore();
      const old = new RateLimiter({ name: 'api', limit, store });
      const deployed = new RateLimiter({ name: 'api', limit: otherLimit, store });
      await old.acquire(rate.permits);
      for (let i = 0; i < 5; i++) {
        assert.not(await deployed.tryAcquire());
        assert.is(await deployed.availablePermits(), 0);
        assert.not(await old.tryAcquire());
        assert.is(await old.availablePermits(), 0);
      }
    });

timed('permits taken from a window are refilled by a bucket before it grants', async (clock) => {
  const store = memoryStore();
  await new RateLimiter({ name: 'api', limit: slidingWindow(rate), store }).acquire(rate.permits);
  const bucket = new RateLimiter({ name: 'api', limit: leakyBucket(rate), store });
  const permit = bucket.acquire();
  const start = Date.now();
  await clock.tickAsync(rate.interval);
  assert.is((await permit).grantedAt, start + rate.interval);
});

const fast = { permits: 10, interval: 1_000 };
const kinds: [string, Limit][] = [
  ['a sliding window', slidingWindow(fast)],
  ['a sliding window of slots', slidingWindow({ ...fast, resolution: 100 })],
  ['a fixed window', fixedWindow(fast)],
  ['a window on the clock', fixedWindow({ ...fast, align: 'epoch' })],
  ['a bucket', tokenBucket(fast)],
  ['a leaky bucket', leakyBucket(fast)],
];

// If each change took all earlier grants to be made at its moment, none of their permits would ever come back.
for (const [i, [kind, limit]] of kinds.entries())
  for (const [other, otherLimit] of kinds.slice(i + 1))
    timed(`two clients use most of a limit, which is ${kind} and ${other} in turn`, async (clock) => {
      const store = memoryStore();
      const limiters = [limit, otherLimit].map((one) => new RateLimiter({ name: 'api', limit: one, store }));
      let granted = 0;
      for (let ms = 0; ms < 20_000; ms += 20) {
        const tried = await limiters[(ms / 20) % 2].tryAcquire();
        if (tried) granted++;
        await clock.tickAsync(20);
      }
      // Each window counts from the newest of its grants.
      assert.ok(granted >= 140, `${granted} in 20 seconds`);
      assert.ok(granted <= 220, `${granted} in 20 seconds`);
    });

for (const [kind, limit] of kinds)
  timed(
    `a limit that is new in a record has to wait no longer than for its own permits: ${kind}`,
    async () => {
      const store = memoryStore();
      const tokens = tokenBucket({ permits: 100_000, interval: 60_000 });
      const old = new RateLimiter({ name: 'api', limit: { requests: limit, tokens }, store });
      await old.acquire({ requests: 1, tokens: 50_000 });
      const deployed = new RateLimiter({
        name: 'api',
        limit: { requests: limit, images: limit, tokens },
        store,
      });
      const { retryAfter } = await deployed.decide({ images: 1 });
      assert.ok(retryAfter <= 1_100, `${retryAfter} ms`);
      const single = new RateLimiter({ name: 'api', limit, store });
      assert.ok((await single.decide()).retryAfter <= 1_100);
    },
  );

test.run();
