import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimiterClosedError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { rejection } from '../support/badInput.ts';
import { timed, times } from '../support/fakeTime.ts';
import { ask, sharing } from './sharing.ts';

const rate = { permits: 5, interval: 10_000 };
const limits: [string, Limit][] = [
  ['a sliding window', slidingWindow(rate)],
  ['a fixed window', fixedWindow(rate)],
  ['a token bucket', tokenBucket(rate)],
];

for (const [kind, limit] of limits) {
  timed(`released permits can be granted again, and never more than ${kind} has`, async () => {
    const [a, b] = sharing(limit, limit);
    await a.acquire(4);
    await b.release(3);
    assert.is(await a.availablePermits(), 4);
    await a.release(1000);
    assert.is(await b.availablePermits(), 5);
    await a.release(1);
    assert.is(await b.availablePermits(), 5);
    assert.ok(await b.tryAcquire(5));
    assert.not(await b.tryAcquire());
  });

  timed(`releasing nothing changes nothing: ${kind}`, async () => {
    const [limiter] = sharing(limit);
    await limiter.acquire(5);
    await limiter.release(0);
    assert.is(await limiter.availablePermits(), 0);
  });

  timed(`a release on a full limit is not saved up: ${kind}`, async () => {
    const [limiter] = sharing(limit);
    await limiter.release(5);
    assert.ok(await limiter.tryAcquire(5));
    assert.not(await limiter.tryAcquire());
  });

  timed(`a release never takes reservations: ${kind}`, async (clock) => {
    const [a, b] = sharing(limit, limit);
    await a.acquire(5);
    const reserved = ask(b, 1, Infinity, 5);
    const before = b.stats().reserved;
    assert.is(before, 1);
    await a.release(5);
    assert.is(b.stats().reserved, 1);
    await clock.tickAsync(10_000);
    // Of a window, the released permits go to the request when its client calls again. A bucket keeps its reservation.
    assert.equal(times(reserved), [limit.kind === 'tokenBucket' ? 10_000 : 1_500]);
    // What is granted counts in full.
    assert.is(await a.availablePermits(), 0);
  });

  timed(`a request after a denial gets released permits at once: ${kind}`, async () => {
    const [limiter] = sharing(limit);
    await limiter.acquire(5);
    assert.not(await limiter.tryAcquire());
    const released = limiter.release(1);
    assert.ok(await limiter.tryAcquire());
    await released;
  });
}

timed(
  'permits are taken from the newest grants, so that those of older ones come back in their time',
  async (clock) => {
    const [limiter] = sharing(slidingWindow({ permits: 5, interval: 1000, resolution: 1 }));
    await limiter.acquire(2);
    await clock.tickAsync(600);
    await limiter.acquire(3);
    await limiter.release(2);
    assert.is(await limiter.availablePermits(), 2);
    await clock.tickAsync(400);
    assert.is(await limiter.availablePermits(), 4);
    await clock.tickAsync(600);
    assert.is(await limiter.availablePermits(), 5);
  },
);

timed(
  'with several limits, a number is released to each limit, and a record to those that it names',
  async () => {
    const limit = { requests: slidingWindow(rate), tokens: tokenBucket({ permits: 100, interval: 60_000 }) };
    const limiter = new RateLimiter({ name: 'api', limit });
    await limiter.acquire({ requests: 5, tokens: 100 });
    const left = () => limiter.availablePermits({ detail: true });
    await limiter.release(2);
    assert.equal(await left(), { requests: 2, tokens: 2 });
    await limiter.release({ tokens: 60 });
    assert.equal(await left(), { requests: 2, tokens: 62 });
    await limiter.release({ requests: 1, tokens: 0 });
    assert.equal(await left(), { requests: 3, tokens: 62 });
    await limiter.release({});
    await limiter.release({ requests: undefined });
    assert.equal(await left(), { requests: 3, tokens: 62 });
  },
);

timed('releases and refunds of one turn count each, in whatever order', async () => {
  const [limiter] = sharing(slidingWindow(rate));
  const permits = [await limiter.acquire(2), await limiter.acquire(2)];
  await Promise.all([permits[0].refund(1), limiter.release(1), permits[1].refund(1)]);
  assert.is(await limiter.availablePermits(), 4);
});

timed('a closed limiter releases nothing, and rejects', async () => {
  const [closed, other] = sharing(slidingWindow(rate), slidingWindow(rate));
  await closed.acquire(3);
  await closed.close();
  assert.instance(await rejection(closed.release(3)), LimiterClosedError);
  assert.is(await other.availablePermits(), 2);
});

test.run();
