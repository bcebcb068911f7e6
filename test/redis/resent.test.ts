import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { startProxy } from '../support/proxy.ts';
import { until } from '../support/until.ts';
import { type OnRedis, redisSuite } from './redisSuite.ts';

const test = redisSuite('resent');
const resends = 'it sends lost calls again';
/** A year, so that no interval ends during a test. */
const rate = { permits: 5, interval: 31_536_000_000 };
const limits: [string, Limit][] = [
  ['a sliding window', slidingWindow(rate)],
  ['a window of one slot', slidingWindow({ ...rate, resolution: rate.interval })],
  ['a fixed window', fixedWindow(rate)],
  ['a fixed window on the clock', fixedWindow({ ...rate, align: 'epoch' })],
  ['a token bucket', tokenBucket(rate)],
];

for (const [title, limit] of limits)
  test(`a refund that the connection sends twice restores once: ${title}`, async (context) => {
    // A grant of another client keeps the ledger from expiring.
    assert.is(await leftAfterResending(context, limit, { granted: 4, held: 1, taken: 4 }), 0);
  });

aboutIoredis(test, resends)(
  'a refund that leaves a bucket almost full restores once, even if other clients have taken from it',
  async (context) => {
    // The bucket is full again after 60 ms, before the refund arrives for the second time.
    const limit = tokenBucket({ permits: 500, interval: 30_000 });
    const left = await leftAfterResending(context, limit, { granted: 499, held: 1, taken: 400 });
    assert.ok(left >= 100 && left < 250, `${left} left`);
  },
);

/** The permits left if a refund is resent after other clients have used the restored permits. */
async function leftAfterResending(
  { redis, server, connect }: OnRedis,
  limit: Limit,
  { granted, held, taken }: Record<'granted' | 'held' | 'taken', number>,
): Promise<number> {
  const proxy = await startProxy(server.port);
  // Enough time for other clients to use the restored permits.
  const lossy = connect({ port: proxy.port, retryStrategy: () => 200 });
  const limiter = new RateLimiter({ name: 'api', limit, redis: lossy });
  const other = new RateLimiter({ name: 'api', limit, redis });
  const permit = await limiter.acquire(granted);
  await other.acquire(held);
  proxy.cutReplies(1);
  const refunded = permit.refund();
  await until('other clients have used the restored permits', () => other.tryAcquire(taken), { every: 2 });
  await refunded;
  assert.is(proxy.cuts, 1);
  await proxy.close();
  return other.availablePermits();
}

aboutIoredis(test, resends)(
  'a reserve that the connection sends twice only loses permits',
  async ({ redis, server, connect }) => {
    const proxy = await startProxy(server.port);
    const limit = tokenBucket(rate);
    const limiter = new RateLimiter({ name: 'api', limit, redis: connect({ port: proxy.port }) });
    await limiter.acquire();
    proxy.cutReplies(1);
    await limiter.acquire();
    assert.is(proxy.cuts, 1);
    assert.is(await new RateLimiter({ name: 'api', limit, redis }).availablePermits(), 2);
    await proxy.close();
  },
);

test.run();
