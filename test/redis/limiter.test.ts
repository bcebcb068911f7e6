import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import {
  fixedWindow,
  type Limit,
  LimiterClosedError,
  RateLimiter,
  slidingWindow,
  tokenBucket,
} from '../../src/index.ts';
import { overBucket, overSliding } from '../properties/oracle.ts';
import { until } from '../support/until.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('limiter');

const window = slidingWindow({ permits: 40, interval: 400, resolution: 1 });
const bucket = tokenBucket({ permits: 40, interval: 400, burst: 5 });
const shared: [string, Limit, (moments: number[]) => string | undefined][] = [
  ['a sliding window', window, (moments) => overSliding(window, permitsAt(moments))],
  ['a token bucket', bucket, (moments) => overBucket(bucket, permitsAt(moments))],
];

function permitsAt(moments: number[]): { t: number; n: number }[] {
  return moments.map((t) => ({ t, n: 1 }));
}

for (const [title, limit, over] of shared)
  test(`two processes share ${title}, and never exceed it`, async ({ redis, connect }) => {
    const limiters = [redis, connect()].map(
      (connection) => new RateLimiter({ name: 'api', limit, redis: connection }),
    );
    const start = performance.now();
    const lines = await Promise.all(
      limiters.map(async (limiter) => {
        const permits = await Promise.all(Array.from({ length: 60 }, () => limiter.acquire()));
        return permits.map(({ grantedAt }) => grantedAt);
      }),
    );
    const took = performance.now() - start;
    // Each process grants its requests in order.
    for (const moments of lines)
      assert.equal(
        moments,
        [...moments].sort((a, b) => a - b),
      );
    assert.is(over(lines.flat()), undefined);
    assert.ok(took > 700 && took < 4_000, `120 permits took ${took} ms`);
    await Promise.all(limiters.map((limiter) => limiter.close()));
  });

const five = slidingWindow({ permits: 5, interval: 60_000, resolution: 1 });

test('a refused request is not charged, and a refund restores permits once', async ({ redis }) => {
  const limiter = new RateLimiter({ name: 'api', limit: five, redis });
  const permit = await limiter.acquire(4);
  assert.not(await limiter.tryAcquire(2));
  assert.not((await limiter.decide(2)).granted);
  assert.is(await limiter.availablePermits(), 1);
  await permit.refund(1);
  await permit.refund(3);
  assert.is(await limiter.availablePermits(), 2);
  const decision = await limiter.decide(2);
  assert.equal([decision.granted, decision.limit, decision.remaining], [true, 5, 0]);
  assert.ok(decision.resetAfter > 55_000 && decision.resetAfter <= 60_001);
});

const cancellations: [string, () => Promise<unknown>][] = [
  ['while it is in the queue', async () => {}],
  // One turn of the event loop later, the call is in flight.
  ['in flight', () => new Promise(setImmediate)],
  ['reserved', () => sleep(100)],
];

for (const [where, moment] of cancellations)
  test(`a request cancelled ${where} is refunded`, async ({ redis, connect }) => {
    const limit = tokenBucket({ permits: 5, interval: 60_000, burst: 5 });
    const limiter = new RateLimiter({ name: 'api', limit, redis });
    await limiter.acquire(4);
    const aborts = new AbortController();
    const { signal } = aborts;
    const outcomes = Promise.allSettled([1, 2, 2].map((permits) => limiter.acquire(permits, { signal })));
    await moment();
    aborts.abort(new Error('no more'));
    const reasons = (await outcomes).map((one) =>
      one.status === 'rejected' ? one.reason.message : one.value.permits,
    );
    assert.is(reasons.at(-1), 'no more');
    const kept = reasons.filter((reason) => reason === 1).length;
    const other = new RateLimiter({ name: 'api', limit, redis: connect() });
    await until('the permit is refunded', async () => (await other.availablePermits()) === 1 - kept);
    const { queued, reserved } = limiter.stats();
    assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
  });

test('close refunds reservations, leaves the connection open and no key without expiry', async ({
  redis,
  connect,
}) => {
  const limiter = new RateLimiter({ name: 'api', limit: five, redis });
  await limiter.acquire(5);
  const waiting = Promise.allSettled([1, 2, 3].map(() => limiter.acquire(5)));
  await until('one is reserved', async () => limiter.stats().reserved > 0);
  await limiter.close();
  for (const one of await waiting) assert.instance((one as PromiseRejectedResult).reason, LimiterClosedError);
  assert.is(await redis.ping(), 'PONG');
  for (const key of await redis.keys('*')) assert.ok((await redis.pttl(key)) > 0, key);
  // No reservation follows the first five any more.
  const { resetAfter } = await new RateLimiter({ name: 'api', limit: five, redis: connect() }).decide();
  assert.ok(resetAfter <= 60_001, `${resetAfter} ms`);
});

const longest = { permits: 1, interval: 1e12 };
for (const limit of [
  slidingWindow({ ...longest, resolution: 1 }),
  fixedWindow(longest),
  tokenBucket(longest),
])
  for (const where of ['Redis', 'the process'])
    test(`the longest ${limit.kind} is exact in ${where}`, async ({ redis }) => {
      const limiter = new RateLimiter({
        name: 'api',
        limit,
        redis: where === 'Redis' ? redis : undefined,
        scope: 'client',
      });
      const { grantedAt } = await limiter.acquire();
      const { granted, retryAfter } = await limiter.decide();
      assert.not(granted);
      // By this machine's clock, in tens of seconds.
      const off = Math.abs(grantedAt + 1e12 - (Date.now() + retryAfter));
      assert.ok(off < 10_000, `${off} ms`);
    });

const most = 2 ** 53 - 1;
const many = { permits: most, interval: 1 };
const buckets = tokenBucket({ permits: 1, interval: 1, burst: most });
for (const limit of [slidingWindow(many), fixedWindow(many), buckets])
  for (const where of ['Redis', 'the process'])
    test(`the most permits of a ${limit.kind} are counted exactly in ${where}`, async ({ redis }) => {
      const limiter = new RateLimiter({ name: 'api', limit, redis: where === 'Redis' ? redis : undefined });
      assert.is(await limiter.availablePermits(), most);
      assert.is((await limiter.acquire(most)).permits, most);
      await limiter.reset();
      const { granted, remaining } = await limiter.decide();
      assert.ok(granted);
      assert.ok(remaining === most - 1 || (limit === buckets && remaining === most - 2), `${remaining}`);
    });

test('a decision reports as many permits as are left, however many', async ({ redis }) => {
  for (const exponent of [18, 19, 20, 40, 52, 53]) {
    const permits = 2 ** exponent - 1;
    const limit = slidingWindow({ permits, interval: 1, resolution: 1 });
    const limiter = new RateLimiter({ name: `${exponent}`, limit, redis });
    assert.is((await limiter.decide()).remaining, permits - 1);
    await limiter.close();
  }
});

test.run();
