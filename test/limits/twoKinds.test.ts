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

test.run();
