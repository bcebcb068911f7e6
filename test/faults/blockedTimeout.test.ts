import * as assert from 'uvu/assert';
import { AcquireTimeoutError, RateLimiter, slidingWindow } from '../../src/index.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { rejection } from '../support/badInput.ts';

const test = redisSuite('a loop that is blocked after a call was sent');

/** Keeps the event loop busy. */
function block(ms: number): void {
  for (const start = performance.now(); performance.now() - start < ms; );
}

/** Until what was asked for has left. */
const sent = () => new Promise((resolve) => setImmediate(resolve));

const limit = slidingWindow({ permits: 5, interval: 300, resolution: 1 });

test('a moment that lies inside the timeout is granted, though the loop was blocked when it came', async ({
  redis,
}) => {
  const limiter = new RateLimiter({ name: 'api', limit, redis });
  await limiter.acquire(5);
  const permit = limiter.acquire(1, { timeout: 400 });
  await sent();
  block(900);
  assert.is((await permit).permits, 1);
  await limiter.close();
});

test('one that lies beyond it is refused', async ({ redis }) => {
  const limiter = new RateLimiter({
    name: 'api',
    limit: slidingWindow({ permits: 5, interval: 60_000 }),
    redis,
  });
  await limiter.acquire(5);
  const refused = rejection(limiter.acquire(1, { timeout: 400 }));
  await sent();
  block(900);
  assert.instance(await refused, AcquireTimeoutError);
  await limiter.close();
});

test.run();
