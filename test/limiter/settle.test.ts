import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed } from '../support/fakeTime.ts';

const rate = { permits: 10, interval: 1000 };
const kinds: Record<string, Limit> = {
  'a sliding window': slidingWindow(rate),
  'a fixed window': fixedWindow(rate),
  'a token bucket': tokenBucket(rate),
};

for (const [kind, limit] of Object.entries(kinds)) {
  timed(`an estimate of ${kind} that was too high refunds the rest`, async () => {
    const limiter = new RateLimiter({ name: 'api', limit });
    const permit = await limiter.acquire(8);
    await permit.settle(3);
    assert.is(await limiter.availablePermits(), 7);
  });

  timed(`an estimate of ${kind} that was too low is charged, and no request waits for it`, async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit });
    const permit = await limiter.acquire(2);
    await permit.settle(6);
    assert.is(await limiter.availablePermits(), 4);
    assert.is(limiter.stats().queued + limiter.stats().reserved, 0);
    assert.is(clock.countTimers(), 0);
  });

  timed(`usage beyond ${kind} delays the next requests`, async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit });
    const permit = await limiter.acquire(10);
    await permit.settle(25);
    assert.is(await limiter.availablePermits(), 0);
    const fate = fateOf(limiter.acquire(10));
    // 25 permits take two intervals and a half, or two whole ones and the start of a third.
    await clock.tickAsync(1900);
    assert.is(fate.at, undefined);
    await clock.tickAsync(1700);
    assert.ok(fate.at !== undefined && fate.at >= 2000, `${fate.at}`);
  });
}

timed('usage as estimated changes nothing', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow(rate) });
  const permit = await limiter.acquire(4);
  await permit.settle(4);
  assert.is(await limiter.availablePermits(), 6);
});

timed('a call that was never made is settled with 0', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow(rate) });
  const permit = await limiter.acquire(4);
  await permit.settle(0);
  assert.is(await limiter.availablePermits(), 10);
});

timed('only the first call of settle or refund counts', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow(rate) });
  const [settled, refunded] = [await limiter.acquire(4), await limiter.acquire(4)];
  await settled.settle(3);
  await settled.settle(9);
  await settled.refund();
  assert.is(await limiter.availablePermits(), 3);
  await refunded.refund(1);
  await refunded.settle(0);
  assert.is(await limiter.availablePermits(), 4);
});

timed('a limit that is left out of a record was used as granted', async () => {
  const limit = { requests: slidingWindow(rate), tokens: slidingWindow({ permits: 1000, interval: 1000 }) };
  const limiter = new RateLimiter({ name: 'api', limit });
  const permit = await limiter.acquire({ requests: 1, tokens: 400 });
  // Undefined, like a field that an API's response lacks.
  await permit.settle({ requests: undefined, tokens: 550 });
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 9, tokens: 450 });
});

timed('an invalid number of permits is refused, after which a valid one still counts', async () => {
  const limit = { requests: slidingWindow(rate), tokens: slidingWindow(rate) };
  const limiter = new RateLimiter({ name: 'api', limit });
  const permit = await limiter.acquire({ requests: 2 });
  for (const used of [-1, 1.5, Number.NaN, Infinity, 2 ** 53])
    assert.instance(await rejection(permit.settle({ requests: used })), RangeError, String(used));
  for (const used of [undefined, '1', null, []])
    assert.instance(await rejection(permit.settle(used as never)), TypeError, String(used));
  assert.instance(await rejection(permit.settle({ tokens: 1 })), RangeError, 'tokens were not asked for');
  assert.instance(await rejection(permit.settle({ other: 1 } as never)), RangeError);
  await permit.settle({ requests: 1 });
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 9, tokens: 10 });
});

timed('what comes back in front of a debt is in time for a request with a timeout', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: fixedWindow({ permits: 10, interval: 1000 }) });
  const [permit, other] = [await limiter.acquire(4), await limiter.acquire(6)];
  await permit.settle(9);
  await other.refund(4);
  const fates = [1, 2].map((permits) => fateOf(limiter.acquire(permits, { timeout: 100 })));
  await clock.tickAsync(10);
  for (const { value } of fates) assert.is(value?.waited, 0);
});

for (const [kind, limitOf] of Object.entries({
  'a sliding window': slidingWindow,
  'a fixed window': fixedWindow,
}))
  timed(
    `a request that is cancelled in front of a debt leaves its interval to others: ${kind}`,
    async (clock) => {
      const limit = limitOf({ permits: 10, interval: 8000 });
      const limiter = new RateLimiter({ name: 'api', limit });
      const permit = await limiter.acquire(10);
      const abort = new AbortController();
      const cancelled = rejection(limiter.acquire(10, { signal: abort.signal }));
      await clock.tickAsync(50);
      await permit.settle(11);
      await clock.tickAsync(50);
      abort.abort();
      await cancelled;
      const start = performance.now();
      const fate = fateOf(limiter.acquire());
      await clock.tickAsync(8000);
      assert.is(fate.at! - start, 7900);
      assert.is(await limiter.availablePermits(), 8);
      assert.ok(await limiter.tryAcquire(8));
      assert.not(await limiter.tryAcquire());
      assert.ok(limiter.stats().calls < 20, `${limiter.stats().calls} calls`);
    },
  );

timed('a debt of more than a thousand windows is one of a thousand', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: fixedWindow({ permits: 1, interval: 10 }) });
  const permit = await limiter.acquire();
  await permit.settle(Number.MAX_SAFE_INTEGER);
  const fate = fateOf(limiter.acquire());
  await clock.tickAsync(11_000);
  assert.is(fate.at, 10_010);
});

test.run();
