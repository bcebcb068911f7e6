import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';

const factories = { slidingWindow, fixedWindow, tokenBucket, leakyBucket };

test('a sliding window keeps its times to a thousandth of the interval, and to a millisecond at least', () => {
  const resolutions = [1, 999, 1000, 1999, 2000, 60_000].map((interval) => [
    interval,
    slidingWindow({ permits: 3, interval }).resolution,
  ]);
  assert.equal(resolutions, [
    [1, 1],
    [999, 1],
    [1000, 1],
    [1999, 1],
    [2000, 2],
    [60_000, 60],
  ]);
  assert.equal(
    { ...slidingWindow({ permits: 3, interval: 1000, resolution: 250 }) },
    { kind: 'slidingWindow', permits: 3, interval: 1000, resolution: 250 },
  );
});

test('a resolution may be as long as the interval', () => {
  assert.is(slidingWindow({ permits: 3, interval: 1000, resolution: 1000 }).resolution, 1000);
});

test('a fixed window starts at its first permit unless it is aligned to the epoch', () => {
  assert.equal(
    { ...fixedWindow({ permits: 3, interval: 1000 }) },
    { kind: 'fixedWindow', permits: 3, interval: 1000, align: 'first' },
  );
  assert.is(fixedWindow({ permits: 3, interval: 1000, align: 'epoch' }).align, 'epoch');
});

test('a token bucket holds its permits unless a burst is set', () => {
  assert.equal(
    { ...tokenBucket({ permits: 3, interval: 1000 }) },
    { kind: 'tokenBucket', permits: 3, interval: 1000, burst: 3 },
  );
  assert.is(tokenBucket({ permits: 3, interval: 1000, burst: 7 }).burst, 7);
});

test('a leaky bucket is a token bucket that holds one permit', () => {
  assert.equal(
    { ...leakyBucket({ permits: 3, interval: 1000 }) },
    { ...tokenBucket({ permits: 3, interval: 1000, burst: 1 }) },
  );
});

test('an option that is undefined counts as left out', () => {
  const rate = { permits: 3, interval: 1000 };
  assert.is(slidingWindow({ ...rate, resolution: undefined }).resolution, 1);
  assert.is(fixedWindow({ ...rate, align: undefined }).align, 'first');
  assert.is(tokenBucket({ ...rate, burst: undefined }).burst, 3);
});

test('limits are frozen, and independent of the options they were made of', () => {
  for (const [kind, factory] of Object.entries(factories)) {
    const options = { permits: 3, interval: 1000 };
    const limit = factory(options);
    options.permits = 4;
    assert.ok(Object.isFrozen(limit), kind);
    assert.is(limit.permits, 3, kind);
  }
});

test('an object is a limit only if a limit function made it', () => {
  const real = slidingWindow({ permits: 3, interval: 1000 });
  for (const fake of [{ ...real }, Object.create(real), JSON.parse(JSON.stringify(real))]) {
    const make = (limit: Limit) => () => new RateLimiter({ name: 'api', limit });
    assert.throws(
      make(fake),
      (error: unknown) => error instanceof TypeError && /^limit: /.test(error.message),
    );
    assert.not.throws(make(real));
  }
});

test('the largest products that are exact are allowed', () => {
  const many = { permits: Number.MAX_SAFE_INTEGER, interval: 1 };
  for (const [kind, factory] of Object.entries(factories))
    assert.is(factory(many).permits, 2 ** 53 - 1, kind);
  const long = { permits: 9007, interval: 1e12 };
  for (const [kind, factory] of Object.entries(factories)) assert.is(factory(long).interval, 1e12, kind);
  assert.is(tokenBucket({ permits: 1, interval: 1, burst: Number.MAX_SAFE_INTEGER }).burst, 2 ** 53 - 1);
});

test.run();
