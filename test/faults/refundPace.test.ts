import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { RateLimiter, slidingWindow } from '../../src/index.ts';
import { type OnRedis, redisSuite } from '../redis/redisSuite.ts';
import { startLink } from '../support/link.ts';

const test = redisSuite('refunds over a long round trip');
const limit = slidingWindow({ permits: 100_000, interval: 60_000 });

/** Milliseconds that a call takes. */
async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await call();
  return performance.now() - before;
}

/** The time that a part of these does not exceed. */
function part(times: number[], fraction: number): number {
  return times.sort((a, b) => a - b)[Math.floor(fraction * (times.length - 1))];
}

/** A limiter of a client that is 40 ms from the server. */
async function distant({ server, connect, afterwards }: OnRedis) {
  const link = await startLink(server.port, Math.random);
  link.latency = 20;
  afterwards(() => link.close());
  const redis = connect({ port: link.port });
  return { redis, limiter: new RateLimiter({ name: 'distant', limit, redis }) };
}

test('15,000 refunds a second take little more than a round trip each, and few are pending', async (context) => {
  const { redis, limiter } = await distant(context);
  const count = 15_000;
  const permits = await Promise.all(Array.from({ length: count }, () => limiter.acquire()));
  // Another load of the machine delays both.
  const trips: Promise<number>[] = [];
  const settled: Promise<number>[] = [];
  let pending = 0;
  let mostPending = 0;
  for (const permit of permits) {
    pending++;
    settled.push(timeOf(() => permit.refund()).finally(() => pending--));
    if (settled.length % 15 > 0) continue;
    trips.push(timeOf(() => redis.ping()));
    mostPending = Math.max(mostPending, pending);
    await sleep(1);
  }
  const [all, pings] = [await Promise.all(settled), await Promise.all(trips)];
  const trip = part(pings, 0.5);
  assert.ok(trip >= 38, `a round trip of ${trip} ms`);
  for (const [fraction, most] of [
    [0.5, 1.3],
    [0.9, 1.6],
  ]) {
    const ratio = part(all, fraction) / trip;
    assert.ok(ratio < most, `${ratio.toFixed(2)} round trips for ${100 * fraction} % of the refunds`);
  }
  assert.ok(mostPending < count / 5, `${mostPending} pending`);
  assert.is(await limiter.availablePermits(), 100_000);
  await limiter.close();
});

test('no refund is lost if the limit changes while several calls are in flight', async (context) => {
  const { limiter } = await distant(context);
  const other = new RateLimiter({ name: 'distant', limit, redis: context.redis });
  const permits = await Promise.all(Array.from({ length: 300 }, () => limiter.acquire()));
  const settled: Promise<void>[] = [];
  for (const [i, permit] of permits.entries()) {
    settled.push(permit.refund());
    // The calls in flight then are sent again with the new limit.
    if (i === 150) settled.push(other.setRate(slidingWindow({ permits: 50_000, interval: 60_000 })));
    await sleep(1);
  }
  await Promise.all(settled);
  assert.is(await other.availablePermits(), 50_000);
  await Promise.all([limiter.close(), other.close()]);
});

test.run();
