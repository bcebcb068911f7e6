import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError, RateLimiter, slidingWindow } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { until } from '../support/until.ts';
import { type OnRedis, redisSuite } from './redisSuite.ts';

const test = redisSuite('pause');
const limit = slidingWindow({ permits: 20, interval: 400, resolution: 1 });

/** Two limiters of one name, each with its own connection. */
function pair({ connect, afterwards }: OnRedis, more = limit): [RateLimiter, RateLimiter] {
  const open = () => {
    const limiter = new RateLimiter({ name: 'api', limit: more, redis: connect() });
    afterwards(() => limiter.close());
    return limiter;
  };
  return [open(), open()];
}

/** Epoch milliseconds by the server's clock. */
async function serverTime({ redis }: OnRedis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

test('no client is granted a permit before a pause ends, whichever client called for it', async (context) => {
  const [a, b] = pair(context);
  const from = await serverTime(context);
  await a.pauseFor(1200);
  assert.not(await b.tryAcquire());
  assert.is(await b.availablePermits(), 0);
  const { granted, retryAfter } = await b.decide();
  assert.not(granted);
  assert.ok(retryAfter > 0 && retryAfter <= 1201, `${retryAfter} ms`);
  const permits = await Promise.all([a, b, a, b].map((limiter) => limiter.acquire(3)));
  for (const { grantedAt } of permits) assert.ok(grantedAt >= from + 1200, `${grantedAt - from} ms`);
});

test('in the process that pauses, reservations and calls in flight are held at once', async (context) => {
  const [a] = pair(context);
  const early: number[] = [];
  const late: number[] = [];
  let paused = 0;
  const waiting = Array.from({ length: 90 }, (_, i) =>
    a.acquire().then(({ grantedAt }) => (paused > 0 ? late : early).push(grantedAt, i)),
  );
  await sleep(500);
  // Some requests are granted, some reserved, others wait: no grant may be delivered from here on.
  paused = await serverTime(context);
  await a.pauseFor(1500);
  await Promise.all(waiting);
  assert.ok(early.length > 0 && late.length > 0);
  const [moments, order] = [0, 1].map((odd) => late.filter((_, i) => i % 2 === odd));
  // Grants from before the pause that were not delivered yet are held as well.
  for (const moment of moments) assert.ok(moment >= paused + 1500 - 1, `${moment - paused} ms`);
  assert.equal(
    order,
    [...order].sort((x, y) => x - y),
  );
});

test('waiting requests of another process are held within two seconds, and keep their place', async (context) => {
  const slow = slidingWindow({ permits: 1, interval: 4_000, resolution: 1 });
  const [a, b] = pair(context, slow);
  await b.acquire();
  const waiting = [0, 1].map(() => b.acquire().then(({ grantedAt }) => grantedAt));
  const hurried = rejection(b.acquire(1, { timeout: 20_000 }));
  await until('one is reserved', async () => b.stats().reserved > 0);
  const from = await serverTime(context);
  const { calls } = b.stats();
  await a.pauseFor(5_000);
  const moments = await Promise.all(waiting);
  assert.ok(moments[0] >= from + 5_000, `${moments[0] - from} ms`);
  assert.ok(moments[1] >= moments[0] + 4_000);
  const made = b.stats().calls - calls;
  assert.ok(made <= 20, `${made} calls`);
  await b.close();
  await hurried;
});

test('the later end of two pauses counts, and reset lifts it for both clients', async (context) => {
  const [a, b] = pair(context);
  await Promise.all([a.pauseFor(3_600_000), b.pauseFor(10)]);
  await sleep(30);
  assert.not(await a.tryAcquire());
  const waits = b.acquire();
  const late = await rejection(a.acquire(1, { timeout: 10_000 }));
  assert.instance(late, AcquireTimeoutError);
  assert.ok((late as AcquireTimeoutError).retryAfter! > 3_000_000);
  const start = performance.now();
  await a.reset();
  await waits;
  assert.ok(performance.now() - start < 6_000);
  assert.ok(await a.tryAcquire());
});

test.run();
