import * as assert from 'uvu/assert';
import { AcquireTimeoutError, RateLimiter, slidingWindow } from '../../src/index.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { rejection } from '../support/badInput.ts';

const test = redisSuite('an event loop blocked after a call was sent');

/** Keeps the event loop busy. */
function block(ms: number): void {
  for (const start = performance.now(); performance.now() - start < ms; );
}

/** Waits until the call has been written. */
const sent = () => new Promise((resolve) => setImmediate(resolve));

const limit = slidingWindow({ permits: 5, interval: 300, resolution: 1 });

const aboutWriting = aboutIoredis(test, 'other clients write a call later');
aboutWriting(
  'grants at a moment within the timeout, though the loop was blocked at that moment',
  async ({ redis }) => {
    const limiter = new RateLimiter({ name: 'api', limit, redis });
    await limiter.acquire(5);
    const permit = limiter.acquire(1, { timeout: 400 });
    await sent();
    block(900);
    assert.is((await permit).permits, 1);
    await limiter.close();
  },
);

test('refuses at a moment beyond the timeout', async ({ redis }) => {
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
