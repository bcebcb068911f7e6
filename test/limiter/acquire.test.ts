import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError, PermitsExceedLimitError, QueueOverflowError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });
const open = () => new RateLimiter({ name: 'api', limit });

timed(
  'requests of different costs are granted in their order, small ones behind big ones too',
  async (clock) => {
    const limiter = open();
    const fates = [3, 4, 1, 1, 5].map((permits) => fateOf(limiter.acquire(permits)));
    await clock.tickAsync(5000);
    assert.equal(times(fates), [0, 1000, 1000, 2000, 3000]);
  },
);

timed('a permit has the permits of its request, its wait, its moment and its source', async (clock) => {
  const limiter = open();
  await limiter.acquire(5);
  await clock.tickAsync(250);
  const fate = fateOf(limiter.acquire(2));
  await clock.tickAsync(1000);
  const { permits, waited, grantedAt, source } = fate.value!;
  assert.equal(
    { permits, waited, grantedAt, source },
    { permits: 2, waited: 750, grantedAt: 1_700_000_001_000, source: 'memory' },
  );
});

timed('a request that cannot be granted in time is rejected at once, and not charged', async (clock) => {
  const limiter = open();
  await limiter.acquire(4);
  await clock.tickAsync(300);
  const error = await rejection(limiter.acquire(2, { timeout: 699 }));
  assert.instance(error, AcquireTimeoutError);
  const { code, permits, timeout, retryAfter } = error as AcquireTimeoutError;
  assert.equal(
    { code, permits, timeout, retryAfter },
    { code: 'ERR_SLUICE_TIMEOUT', permits: 2, timeout: 699, retryAfter: 700 },
  );
  assert.is(performance.now(), 300);
  assert.is(await limiter.availablePermits(), 1);
});

timed('a request is granted just in time', async (clock) => {
  const limiter = open();
  await limiter.acquire(5);
  await clock.tickAsync(300);
  const fate = fateOf(limiter.acquire(2, { timeout: 700 }));
  await clock.tickAsync(700);
  assert.is(fate.value?.waited, 700);
});

timed('a request that is granted just in time is granted behind others as well', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 8, interval: 1000 }) });
  const fates = [2, 7].map((permits) => fateOf(limiter.acquire(permits)));
  fates.push(fateOf(limiter.acquire(1, { timeout: 1000 })));
  await clock.tickAsync(1000);
  assert.equal(times(fates), [0, 1000, 1000]);
  assert.is(fates[2].reason, undefined);
});

timed('no request waits longer than its timeout, however long the queue is', async (clock) => {
  const limiter = open();
  for (let i = 0; i < 500; i++) fateOf(limiter.acquire());
  const fates = [10, 1500, 50_000].map((timeout) => fateOf(limiter.acquire(1, { timeout })));
  await clock.tickAsync(120_000);
  for (const [i, timeout] of [10, 1500, 50_000].entries()) {
    assert.instance(fates[i].reason, AcquireTimeoutError);
    assert.ok(fates[i].at! <= timeout);
  }
});

timed('a rejected request does not delay others', async (clock) => {
  const limiter = open();
  await limiter.acquire(3);
  const fates = [fateOf(limiter.acquire(5, { timeout: 500 })), fateOf(limiter.acquire(2))];
  await clock.tickAsync(0);
  assert.is(fates[0].reason?.name, 'AcquireTimeoutError');
  assert.is(fates[1].value?.waited, 0);
});

test('more permits than the limit can ever grant are refused at once', async () => {
  const error = await rejection(open().acquire(6));
  assert.instance(error, PermitsExceedLimitError);
  assert.equal(
    [(error as PermitsExceedLimitError).permits, (error as PermitsExceedLimitError).limit],
    [6, 5],
  );
  const bucket = new RateLimiter({
    name: 'api',
    limit: tokenBucket({ permits: 5, interval: 1000, burst: 2 }),
  });
  assert.instance(await rejection(bucket.acquire(3)), PermitsExceedLimitError);
});

timed('no more than maxQueue requests wait, and a refused one does not disturb them', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit, maxQueue: 2 });
  await limiter.acquire(5);
  const fates = [fateOf(limiter.acquire()), fateOf(limiter.acquire())];
  const error = await rejection(limiter.acquire());
  assert.instance(error, QueueOverflowError);
  assert.equal([(error as QueueOverflowError).maxQueue, error.name], [2, 'QueueOverflowError']);
  await clock.tickAsync(1000);
  assert.equal(times(fates), [1000, 1000]);
  assert.is((await limiter.acquire()).permits, 1);
});

timed('limiters that share a store and a name share the limit', async (clock) => {
  const store = memoryStore();
  const [a, b] = [0, 1].map(() => new RateLimiter({ name: 'api', limit, store }));
  const fates = [fateOf(a.acquire(3)), fateOf(b.acquire(3)), fateOf(a.acquire(2))];
  await clock.tickAsync(0);
  assert.equal(times(fates), [0, undefined, undefined]);
  await clock.tickAsync(1000);
  assert.equal(times(fates).slice(0, 2), [0, 1000]);
  await clock.tickAsync(5000);
  assert.ok(fates[2].at! >= 1000);
  assert.is(await b.availablePermits(), 5);
});

timed('stats() counts requests, calls and reservations', async (clock) => {
  const limiter = open();
  assert.equal(limiter.stats(), {
    queued: 0,
    reserved: 0,
    calls: 0,
    granted: 0,
    contenders: 1,
    roundTrip: 0,
  });
  for (let i = 0; i < 12; i++) fateOf(limiter.acquire());
  const { queued, reserved, granted } = limiter.stats();
  assert.equal([queued + reserved, granted], [7, 5]);
  assert.ok(reserved >= 1);
  await clock.tickAsync(5000);
  assert.equal([limiter.stats().queued, limiter.stats().reserved, limiter.stats().granted], [0, 0, 12]);
});

test.run();
