import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { overSliding } from '../properties/oracle.ts';
import { timed, times } from '../support/fakeTime.ts';
import { ask, sharing } from './sharing.ts';

const five = slidingWindow({ permits: 5, interval: 1000, resolution: 1 });
const ten = slidingWindow({ permits: 10, interval: 1000, resolution: 1 });
const two = slidingWindow({ permits: 2, interval: 1000, resolution: 1 });

timed("the limit in force is the limiter's own until a rate is stored, and again after delete", async () => {
  const [limiter] = sharing(five);
  assert.equal(await limiter.getRate(), { limit: five, stored: false });
  await limiter.setRate(ten);
  assert.equal(await limiter.getRate(), { limit: ten, stored: true });
  await limiter.reset();
  assert.equal(await limiter.getRate(), { limit: ten, stored: true });
  await limiter.delete();
  assert.equal(await limiter.getRate(), { limit: five, stored: false });
  assert.is(await limiter.availablePermits(), 5);
});

timed('getRate returns a rate of each kind as it was stored', async () => {
  const [a, b] = sharing(five, two);
  const rates = [
    slidingWindow({ permits: 7, interval: 900, resolution: 30 }),
    fixedWindow({ permits: 7, interval: 900 }),
    fixedWindow({ permits: 7, interval: 900, align: 'epoch' }),
    tokenBucket({ permits: 7, interval: 900, burst: 3 }),
    leakyBucket({ permits: 7, interval: 900 }),
  ];
  for (const limit of rates) {
    await a.setRate(limit);
    assert.equal(await b.getRate(), { limit, stored: true });
  }
});

timed('trySetRate stores a rate once, until it is deleted', async () => {
  const [a, b] = sharing(five, five);
  assert.is(await a.trySetRate(ten), true);
  assert.is(await b.trySetRate(two), false);
  assert.is(await a.trySetRate(ten), false);
  assert.equal(await b.getRate(), { limit: ten, stored: true });
  await b.delete();
  assert.is(await b.trySetRate(two), true);
  assert.equal(await a.getRate(), { limit: two, stored: true });
});

timed('a stored rate overrides the own limit of each limiter, from its next call on', async (clock) => {
  const [a, b] = sharing(five, two);
  await a.acquire();
  await b.acquire();
  await a.setRate(ten);
  // The two that were granted keep counting.
  assert.is(await b.availablePermits(), 8);
  assert.ok(await b.tryAcquire(8));
  assert.not(await a.tryAcquire());
  const decision = await b.decide();
  assert.equal([decision.granted, decision.limit, decision.retryAfter], [false, 10, 1000]);
  await clock.tickAsync(1000);
  assert.ok(await b.tryAcquire(10));
  const { limit, stored } = await b.getRate();
  assert.equal([limit, stored], [ten, true]);
});

timed('without keepState all that was granted is forgotten', async () => {
  for (const [options, left] of [
    [undefined, 5],
    [{}, 5],
    [{ keepState: true }, 5],
    [{ keepState: false }, 10],
  ] as const) {
    const [a, b] = sharing(five, five);
    await a.acquire(5);
    await a.setRate(ten, options);
    assert.is(await b.availablePermits(), left);
  }
});

timed('a lower rate counts all that was granted, and is in force at once', async (clock) => {
  const [a, b] = sharing(five, five);
  await a.acquire(4);
  await clock.tickAsync(600);
  await b.setRate(two);
  assert.not(await b.tryAcquire());
  assert.not(await a.tryAcquire());
  assert.is((await a.decide()).limit, 2);
  const fates = [...ask(a, 3), ...ask(b, 2)];
  await clock.tickAsync(10_000);
  const moments = (times(fates) as number[]).sort((x, y) => x - y);
  assert.is(moments.length, 5);
  assert.is(moments[0], 1000);
  assert.is(
    overSliding(
      two,
      moments.map((t) => ({ t, n: 1 })),
    ),
    undefined,
  );
});

timed('a limiter that is alone can change its own rate', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  const fates = ask(limiter, 8);
  await clock.tickAsync(100);
  await limiter.setRate(ten);
  // The reservation at 1000 is within two seconds, so it remains.
  await clock.tickAsync(1000);
  assert.equal(times(fates).slice(5), [1000, 1000, 1000]);
});

test.run();
