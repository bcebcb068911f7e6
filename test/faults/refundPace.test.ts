import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { RateLimiter, slidingWindow } from '../../src/index.ts';
import { type OnRedis, redisSuite } from '../redis/redisSuite.ts';
import { startLink } from '../support/link.ts';

const test = redisSuite('refunds over a long round trip');
const limit = slidingWindow({ permits: 100_000, interval: 60_000 });

/** The number that a part of these does not exceed. */
function part(numbers: number[], fraction: number): number {
  return numbers.sort((a, b) => a - b)[Math.floor(fraction * (numbers.length - 1))];
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
  // A PING with every 15 refunds is the clock of this test: on a busy machine it goes as slowly as the refunds do.
  let sent = 0;
  let answered = 0;
  let pending = 0;
  let trip = 0;
  let mostPending = 0;
  const waited: number[] = [];
  const settled: Promise<void>[] = [];
  for (const permit of permits) {
    const before = sent;
    pending++;
    const refunded = permit.refund().then(() => {
      pending--;
      waited.push(answered - before);
    });
    settled.push(refunded);
    if (settled.length % 15 > 0) continue;
    sent++;
    redis.ping().then(() => answered++);
    trip = Math.max(trip, sent - answered);
    mostPending = Math.max(mostPending, pending);
    await sleep(1);
  }
  await Promise.all(settled);
  // Beside the round trip, each waits for a part of one. Where calls wait for replies, that is a half for the median.
  for (const [fraction, most] of [
    [0.5, Math.max(4, trip / 3)],
    [0.9, Math.max(8, trip / 2)],
  ]) {
    const pings = part(waited, fraction);
    assert.ok(
      pings < most,
      `${100 * fraction} % were sent after ${pings} PINGs at most, of ${trip} in a round trip`,
    );
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
