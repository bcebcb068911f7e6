import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  fixedWindow,
  type Limit,
  leakyBucket,
  longestInterval,
  slidingWindow,
  tokenBucket,
} from '../../src/limits/limit.ts';
import { scaledLimit } from '../../src/stores/fallback/scaledLimit.ts';
import { type LimitSpec, limitOf, record } from '../properties/specs.ts';
import { promise } from '../support/campaign.ts';

const most = Number.MAX_SAFE_INTEGER;

/** The fields of a limit, without its brand. */
function plain(limit: Limit): object {
  return { ...limit };
}

test('a window keeps its interval and grants fewer permits', () => {
  const sliding = scaledLimit(slidingWindow({ permits: 100, interval: 1000, resolution: 10 }), 0.5);
  assert.equal(plain(sliding), { kind: 'slidingWindow', permits: 50, interval: 1000, resolution: 10 });
  const fixed = scaledLimit(fixedWindow({ permits: 9, interval: 60_000, align: 'epoch' }), 0.5);
  assert.equal(plain(fixed), { kind: 'fixedWindow', permits: 4, interval: 60_000, align: 'epoch' });
});

test('a window of less than one permit grants one in a longer interval', () => {
  const sliding = scaledLimit(slidingWindow({ permits: 2, interval: 1000, resolution: 10 }), 0.1);
  assert.equal(plain(sliding), { kind: 'slidingWindow', permits: 1, interval: 5000, resolution: 10 });
  const fixed = scaledLimit(fixedWindow({ permits: 1, interval: 1000 }), 0.5);
  assert.equal(plain(fixed), { kind: 'fixedWindow', permits: 1, interval: 2000, align: 'first' });
});

test('a bucket refills more slowly and holds less, at least one permit', () => {
  const bucket = scaledLimit(tokenBucket({ permits: 10, interval: 1000, burst: 50 }), 0.25);
  assert.equal(plain(bucket), { kind: 'tokenBucket', permits: 10, interval: 4000, burst: 12 });
  const leaky = scaledLimit(leakyBucket({ permits: 10, interval: 1000 }), 0.5);
  assert.equal(plain(leaky), { kind: 'tokenBucket', permits: 10, interval: 2000, burst: 1 });
});

test('a bucket whose numbers would be too large has a lower rate and burst instead', () => {
  const rate = scaledLimit(tokenBucket({ permits: 2 ** 30, interval: 2 ** 22, burst: 1 }), 2 ** -8);
  assert.equal(plain(rate), { kind: 'tokenBucket', permits: 2 ** 22, interval: 2 ** 22, burst: 1 });
  const size = scaledLimit(tokenBucket({ permits: 1, interval: 3, burst: Math.floor(most / 3) }), 0.9);
  assert.equal(plain(size), { kind: 'tokenBucket', permits: 1, interval: 4, burst: Math.floor(most / 4) });
});

test('a ratio of 1 keeps the limit', () => {
  for (const limit of [
    slidingWindow({ permits: 7, interval: 1000, resolution: 100 }),
    fixedWindow({ permits: 7, interval: 1000 }),
    tokenBucket({ permits: 7, interval: 1000, burst: 3 }),
  ])
    assert.equal(plain(scaledLimit(limit, 1)), plain(limit));
});

/** Numbers of every size with products below 2^53. */
const anyRate = fc
  .tuple(fc.nat(52), fc.nat(40), fc.nat(52), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([p, i, b, fraction]) => {
    const interval = Math.min(longestInterval, Math.floor(2 ** i * (1 + fraction)));
    const size = (exponent: number) =>
      Math.max(1, Math.min(Math.floor(2 ** exponent * (1 + fraction)), Math.floor(most / interval)));
    return { permits: size(p), interval, burst: size(b) };
  });

const limits = record({
  rate: anyRate,
  kind: fc.constantFrom('slidingWindow', 'fixedWindow', 'tokenBucket'),
  resolution: fc.double({ min: 0, max: 1, noNaN: true }),
}).map(({ rate: { permits, interval, burst }, kind, resolution }) => {
  const specs: Record<string, LimitSpec> = {
    slidingWindow: {
      kind: 'slidingWindow',
      permits,
      interval,
      resolution: Math.max(1, Math.floor(interval * resolution)),
    },
    fixedWindow: { kind: 'fixedWindow', permits, interval, align: 'first' },
    tokenBucket: { kind: 'tokenBucket', permits, interval, burst },
  };
  return limitOf(specs[kind]);
});

const ratios = fc.oneof(
  fc.double({ min: 0, minExcluded: true, max: 1, noNaN: true }),
  fc.integer({ min: 1, max: 1000 }).map((n) => 1 / n),
);

/**
 * Whether a/b ≤ c/d · ratio in whole numbers, apart from the rounding of doubles: 1/6 is slightly less than a sixth.
 */
function isAtMost(a: number, b: number, c: number, d: number, ratio: number): boolean {
  // A double is a multiple of 2^-1074.
  const scale = 1074;
  const [given, allowed] = [
    BigInt(a) * BigInt(d) * (1n << BigInt(scale)),
    BigInt(c) * BigInt(b) * exact(ratio, scale),
  ];
  return given <= allowed + (allowed >> 50n);
}

/** A double as a multiple of 2^-scale. */
function exact(number: number, scale: number): bigint {
  let [mantissa, exponent] = [number, 0];
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent++;
  }
  return BigInt(mantissa) << BigInt(scale - exponent);
}

promise(
  'never exceeds the ratio, grants at least one permit, and has safe integers only',
  2000,
  fc.tuple(limits, ratios),
  ([limit, ratio]) => {
    const part = scaledLimit(limit, ratio);
    assert.is(part.kind, limit.kind);
    assert.ok(part.permits >= 1 && part.permits <= limit.permits);
    // An interval that would exceed the maximum is the maximum.
    const longest = part.interval === longestInterval;
    assert.ok(longest || isAtMost(part.permits, part.interval, limit.permits, limit.interval, ratio), 'rate');
    if (part.kind === 'tokenBucket' && limit.kind === 'tokenBucket')
      assert.ok(part.burst === 1 || isAtMost(part.burst, 1, limit.burst, 1, ratio), 'burst');
    else if (part.permits > 1) assert.is(part.interval, limit.interval);
  },
);

test.run();
