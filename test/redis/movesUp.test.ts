import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('reservations move up');

const limit = slidingWindow({ permits: 10, interval: 60_000, resolution: 1 });

/** The time until a permit is granted, in ms. */
async function after(permit: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await permit;
  return performance.now() - start;
}

test('refunded permits go to the waiting request within a round trip', async ({ redis }) => {
  const limiter = new RateLimiter({ name: 'api', limit, redis });
  const permit = await limiter.acquire(10);
  const waits = limiter.acquire(5);
  await limiter.decide();
  const [ms] = await Promise.all([after(waits), permit.refund(9)]);
  // Its reservation is a minute ahead.
  assert.ok(ms < 1_000, `after ${ms} ms`);
  await limiter.close();
});

test('refunded permits reach the waiting requests of both processes, in a few calls', async ({
  redis,
  connect,
}) => {
  const [a, b] = [redis, connect()].map(
    (connection) => new RateLimiter({ name: 'api', limit, redis: connection }),
  );
  const permit = await a.acquire(10);
  const waits = [a, b, a, b].map((limiter) => limiter.acquire(2));
  await Promise.all([a.decide(), b.decide()]);
  await permit.refund(9);
  const ms = await after(Promise.all(waits));
  assert.ok(ms < 5_000, `after ${ms} ms`);
  for (const limiter of [a, b]) assert.ok(limiter.stats().calls < 15, `${limiter.stats().calls} calls`);
  await Promise.all([a.close(), b.close()]);
});

const kinds: Record<string, (interval: number) => Limit> = {
  'a sliding window': (interval) => slidingWindow({ permits: 10, interval }),
  'a fixed window': (interval) => fixedWindow({ permits: 10, interval }),
  'a token bucket': (interval) => tokenBucket({ permits: 10, interval: 2 * interval }),
};

test('reservations a little more than two seconds ahead move forward for the refund of another process', async ({
  redis,
  connect,
}) => {
  const other = connect();
  const histories = Object.entries(kinds).flatMap(([kind, limitOf]) =>
    [2300, 2700, 3300].flatMap((ahead) =>
      [false, true].map(async (waitsItself) => {
        const name = `${kind} ${ahead} ${waitsItself}`;
        const [a, b] = [redis, other].map(
          (connection) => new RateLimiter({ name, limit: limitOf(ahead + 100), redis: connection }),
        );
        const permit = await b.acquire(10);
        const waits = a.acquire(5);
        const own = waitsItself ? b.acquire(1) : undefined;
        await sleep(100);
        const [ms] = await Promise.all([after(waits), permit.refund(9), own]);
        await Promise.all([a.close(), b.close()]);
        return { name, ms };
      }),
    ),
  );
  // Two seconds, round trips, and timers that are late.
  for (const { name, ms } of await Promise.all(histories)) assert.ok(ms < 2150, `${name}: after ${ms} ms`);
});

test('permits used beyond an estimate count in Redis too', async ({ redis, connect }) => {
  const [a, b] = [redis, connect()].map(
    (connection) => new RateLimiter({ name: 'api', limit, redis: connection }),
  );
  const permit = await a.acquire(2);
  await permit.settle(7);
  assert.is(await b.availablePermits(), 3);
  const low = await a.acquire(3);
  await low.settle(1);
  assert.is(await b.availablePermits(), 2);
  await Promise.all([a.close(), b.close()]);
});

test.run();
