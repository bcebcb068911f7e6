// The clocks of ledgers in this process are behind the wall clock, so that their times are small: no result shows that.
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { latenessFrom } from '../../src/stores/memory/createLedger.ts';

const test = suite('clocks of ledgers in this process');
const day = 86_400_000;
/** A zero near that of the first store of the process, which determines how late the clocks are. */
const first = [1_700_000_000_123, Math.round(performance.timeOrigin)].find(latenessFrom) ?? 1_700_000_000_123;
const interval = 7_001;

test.after.each(() => sinon.restore());

// The wall clock stepped back, ran on, and was wrong by years.
for (const origin of [first, first - day / 2, first + day / 2, first + 30 * day, 1_000, 1_000_000_000_000])
  test(`windows start on the clock if its zero is ${(origin - first) / day} days after the first`, async () => {
    const clock = sinon.useFakeTimers({ now: origin, toFake: ['Date', 'performance', 'setTimeout'] });
    const limiter = new RateLimiter({
      name: 'n',
      limit: fixedWindow({ permits: 2, interval, align: 'epoch' }),
    });
    for (const wait of [0, 1_000, 50 * day + 3, 2_000, interval]) {
      clock.tick(wait);
      const now = origin + performance.now();
      const { granted, resetAfter } = await limiter.decide();
      assert.equal({ granted, resetAfter }, { granted: true, resetAfter: interval - (now % interval) });
    }
    await limiter.pauseFor(500);
    assert.is((await limiter.decide()).retryAfter, 500);
  });

// The window in progress may have begun before the zero of the ledgers' clocks.
for (const days of [1, 3, 7, 30, 365])
  test(`the permits of a window of ${days} days on the clock are free from the start`, async () => {
    sinon.useFakeTimers({ now: first, toFake: ['Date', 'performance', 'setTimeout'] });
    const limit = fixedWindow({ permits: 2, interval: days * day, align: 'epoch' });
    const limiter = new RateLimiter({ name: 'n', limit });
    assert.is(await limiter.availablePermits(), 2);
    const granted = [await limiter.decide(), await limiter.decide(), await limiter.decide()].map(
      (decision) => decision.granted,
    );
    assert.equal(granted, [true, true, false]);
  });

test('grants count for the same time, and can be refunded, even after weeks', async () => {
  const clock = sinon.useFakeTimers({ now: first, toFake: ['Date', 'performance', 'setTimeout'] });
  const rate = { permits: 1, interval };
  const limits = [slidingWindow({ ...rate, resolution: 1 }), fixedWindow(rate), tokenBucket(rate)];
  const limiters = limits.map((limit) => new RateLimiter({ name: 'n', limit }));
  for (const wait of [0, interval, 50 * day, interval]) {
    clock.tick(wait);
    for (const limiter of limiters) {
      const permit = await limiter.acquire();
      assert.is(permit.grantedAt, first + performance.now());
      assert.is((await limiter.decide()).retryAfter, interval);
      await permit.refund();
      assert.is((await limiter.decide()).granted, true);
    }
  }
});

test('the clocks of all stores whose zeros are near each other are equally late', () => {
  const lateness = latenessFrom(first);
  // The slots of a window are then the same, if a day is a multiple of their length.
  assert.is(lateness % day, 0);
  for (const near of [lateness + 0.5, lateness + day, lateness + 4 * day - 0.5])
    assert.is(latenessFrom(near), lateness);
  for (const far of [0, lateness, lateness + 4 * day]) assert.is(latenessFrom(far), 0);
});

test.run();
