import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import type { Decision } from '../../src/limiter/results.ts';
import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { ControlledLedger, Store } from '../../src/stores/store.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';

const rate = { permits: 5, interval: 1000 };

/** A decision as a row: granted, limit, remaining, retryAfter, resetAfter. */
const row = ({ granted, limit, remaining, retryAfter, resetAfter }: Decision) => [
  granted,
  limit,
  remaining,
  retryAfter,
  resetAfter,
];

/** Decisions on 3 permits at 300 ms, on 3 more at 400 ms, and on 2 at 400 ms. */
const expected: [string, Limit, unknown[][]][] = [
  [
    'sliding window',
    slidingWindow(rate),
    [
      [true, 5, 2, 0, 1000],
      [false, 5, 2, 900, 900],
      [true, 5, 0, 0, 1000],
    ],
  ],
  [
    'fixed window',
    fixedWindow(rate),
    [
      [true, 5, 2, 0, 1000],
      [false, 5, 2, 900, 900],
      [true, 5, 0, 0, 900],
    ],
  ],
  [
    'fixed window that is aligned to the epoch',
    fixedWindow({ ...rate, align: 'epoch' }),
    [
      [true, 5, 2, 0, 700],
      [false, 5, 2, 600, 600],
      [true, 5, 0, 0, 600],
    ],
  ],
  [
    'token bucket',
    tokenBucket({ permits: 3, interval: 1000, burst: 5 }),
    [
      [true, 5, 2, 0, 1000],
      // 0.3 of a permit has come back: 0.7 are missing, and 2.7 until it is full.
      [false, 5, 2, 234, 900],
      [true, 5, 0, 0, 1567],
    ],
  ],
];

for (const [kind, limit, rows] of expected)
  timed(`decide returns whole permits and milliseconds: ${kind}`, async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit });
    await clock.tickAsync(300);
    const decisions = [await limiter.decide(3)];
    await clock.tickAsync(100);
    decisions.push(await limiter.decide(3), await limiter.decide(2));
    assert.equal(decisions.map(row), rows);
  });

timed('decide names the burst of a leaky bucket as its limit', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: leakyBucket(rate) });
  assert.equal(row(await limiter.decide()), [true, 1, 0, 0, 200]);
  assert.equal(row(await limiter.decide()), [false, 1, 0, 200, 200]);
});

const requests = slidingWindow({ permits: 3, interval: 1000 });
const tokens = slidingWindow({ permits: 100, interval: 60_000, resolution: 1 });

timed('decide reports the charged limit with the smallest part left', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: { requests, tokens } });
  assert.equal(row(await limiter.decide({ requests: 1, tokens: 40 })), [true, 100, 60, 0, 60_000]);
  assert.equal(row(await limiter.decide({ requests: 1, tokens: 10 })), [true, 3, 1, 0, 60_000]);
  assert.equal(row(await limiter.decide({ requests: 1 })), [true, 3, 0, 0, 60_000]);
  assert.equal(row(await limiter.decide({ tokens: 10 })), [true, 100, 40, 0, 60_000]);
});

timed('decide reports the limit that denies, though another one has less left', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: { requests, tokens } });
  await limiter.decide({ requests: 2, tokens: 40 });
  assert.equal(row(await limiter.decide({ requests: 1, tokens: 70 })), [false, 100, 60, 60_000, 60_000]);
  assert.equal(row(await limiter.decide({ requests: 2, tokens: 50 })), [false, 3, 1, 1000, 60_000]);
});

timed('if several limits deny, decide reports the one that denies for longest', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: { requests, tokens } });
  await limiter.decide({ requests: 3, tokens: 95 });
  await clock.tickAsync(100);
  assert.equal(row(await limiter.decide({ requests: 1, tokens: 6 })), [false, 100, 5, 59_900, 59_900]);
});

timed('decide does not overtake a request that waits for another limit of the record', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: { requests, tokens } });
  await limiter.acquire({ requests: 3, tokens: 1 });
  const waiting = fateOf(limiter.acquire({ requests: 1 }));
  assert.equal(row(await limiter.decide({ tokens: 1 })), [false, 100, 99, 1000, 60_000]);
  await clock.tickAsync(1000);
  assert.is(waiting.value?.waited, 1000);
  assert.equal(row(await limiter.decide({ tokens: 1 })), [true, 100, 98, 0, 60_000]);
});

timed('decide does not take reserved permits', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow(rate) });
  await limiter.acquire(3);
  const big = fateOf(limiter.acquire(4));
  assert.is((await limiter.decide()).granted, false);
  await clock.tickAsync(1000);
  assert.is(big.value?.waited, 1000);
});

timed('availablePermits takes nothing, and keeps reservations', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: { a: slidingWindow(rate), b: tokenBucket(rate) } });
  await limiter.acquire({ a: 1, b: 3 });
  for (let i = 0; i < 3; i++) {
    assert.is(await limiter.availablePermits(), 2);
    assert.is(await limiter.availablePermits({ detail: false }), 2);
    assert.equal(await limiter.availablePermits({ detail: true }), { a: 4, b: 2 });
  }
  fateOf(limiter.acquire({ b: 5 }));
  assert.is(await limiter.availablePermits(), 0);
  await clock.tickAsync(5000);
  assert.equal(await limiter.availablePermits({ detail: true }), { a: 5, b: 5 });
});

timed('a decision has whole milliseconds, rounded up', async () => {
  const refusal = { granted: false, available: [0], retryAfter: 0.2, resetAfter: 998.7, limiting: 0 };
  const inner = memoryStore();
  const store: Store = {
    open: (config) =>
      ledgerWith<ControlledLedger, Partial<ControlledLedger>>(inner.open(config), {
        sync: false,
        decide: (_, reply) => reply(null, refusal),
      }),
  };
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow(rate), store });
  assert.equal(row(await limiter.decide()), [false, 5, 0, 1, 999]);
});

test.run();
