import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PermitsExceedLimitError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';

const open = () =>
  new RateLimiter({
    name: 'api',
    limit: {
      requests: slidingWindow({ permits: 3, interval: 1000 }),
      tokens: tokenBucket({ permits: 100, interval: 1000 }),
    },
  });

timed('several limits are granted at the moment when all of them can', async (clock) => {
  const limiter = open();
  const costs = [
    { requests: 1, tokens: 100 },
    { requests: 1, tokens: 50 },
    { requests: 1, tokens: 1 },
    { requests: 1, tokens: 1 },
  ];
  const fates = costs.map((permits) => fateOf(limiter.acquire(permits)));
  await clock.tickAsync(5000);
  assert.equal(times(fates), [0, 500, 510, 1000]);
});

timed('a request that one limit refuses is charged to none', async () => {
  const limiter = open();
  await limiter.acquire({ tokens: 60 });
  assert.is(await limiter.tryAcquire({ requests: 1, tokens: 50 }), false);
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 3, tokens: 40 });
});

timed('permits of one window are granted while clients wait for another one', async (clock) => {
  const limit = {
    writes: slidingWindow({ permits: 1, interval: 3000 }),
    reads: slidingWindow({ permits: 10, interval: 1000 }),
  };
  const store = memoryStore();
  const [a, b, c] = ['a', 'b', 'c'].map(
    (clientId) => new RateLimiter({ name: 'api', limit, store, clientId }),
  );
  const writes = [a, b, a, b].map((limiter) => fateOf(limiter.acquire({ writes: 1 })));
  await clock.tickAsync(100);
  assert.is((await c.decide({ reads: 1 })).granted, true);
  // While several clients wait, windows space their grants.
  await clock.tickAsync(100);
  assert.is(await c.tryAcquire({ reads: 1 }), true);
  const reads = Array.from({ length: 8 }, () => fateOf(c.acquire({ reads: 1 })));
  await clock.tickAsync(1000);
  assert.ok(reads.every(({ at = Infinity }) => at <= 1200));
  await clock.tickAsync(9000);
  assert.ok(writes.every(({ at = Infinity }, i) => at <= 3000 * i + 5));
});

timed('a number refunds as many permits of each limit, at most the smallest charge', async () => {
  const limiter = open();
  const permit = await limiter.acquire({ requests: 2, tokens: 50 });
  assert.instance(await rejection(permit.refund(3)), RangeError);
  await permit.refund(2);
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 3, tokens: 52 });
});

timed('a limit that is left out, undefined or 0 is neither charged nor waited for', async () => {
  const limiter = open();
  await limiter.acquire({ requests: 3 });
  for (const permits of [{ tokens: 1 }, { requests: 0, tokens: 1 }, { requests: undefined, tokens: 1 }])
    assert.is(await limiter.tryAcquire(permits), true);
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 0, tokens: 97 });
});

timed('a number is charged to every limit', async () => {
  const limiter = open();
  const permit = await limiter.acquire(2);
  assert.is(permit.permits, 2);
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 1, tokens: 98 });
});

timed('a permit of several limits has the record of its request', async () => {
  const asked = { requests: 1, tokens: 40 };
  assert.equal((await open().acquire(asked)).permits, asked);
});

timed(
  'more permits than one of the limits can ever grant are refused at once, with the most of each',
  async () => {
    const limiter = open();
    const error = await rejection(limiter.acquire({ requests: 4, tokens: 1 }));
    assert.instance(error, PermitsExceedLimitError);
    assert.equal((error as PermitsExceedLimitError).permits, { requests: 4, tokens: 1 });
    assert.equal((error as PermitsExceedLimitError).limit, { requests: 3, tokens: 100 });
    assert.is(await limiter.availablePermits(), 3);
  },
);

timed('a single limit accepts no record', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 3, interval: 1000 }) });
  assert.instance(await rejection(limiter.acquire({ '': 1 } as never)), TypeError);
});

timed('the order of a record of limits makes no difference', async () => {
  const store = memoryStore();
  const [a, b] = [
    slidingWindow({ permits: 10, interval: 1000 }),
    slidingWindow({ permits: 5, interval: 1000 }),
  ];
  const one = new RateLimiter({ name: 'api', limit: { a, b }, store });
  const other = new RateLimiter({ name: 'api', limit: { b, a }, store });
  const permit = await one.acquire({ a: 5, b: 1 });
  assert.equal(await other.availablePermits({ detail: true }), { a: 5, b: 4 });
  await permit.refund();
  assert.equal(await one.availablePermits({ detail: true }), { a: 10, b: 5 });
});

test.run();
