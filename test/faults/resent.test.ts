import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { type RedisProxy, startProxy } from '../support/proxy.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';

interface Context {
  server: RedisServer;
  proxy: RedisProxy;
  redis: Redis;
  direct: Redis;
  /** A limiter behind the proxy, and one connected to the server directly. */
  open: (limit: Limit) => { cut: RateLimiter; whole: RateLimiter };
}

const resent = suite<Context>('calls that are sent twice');
const test = aboutIoredis(resent, 'it sends lost calls again');
resent.before(async (context) => {
  context.server = await startRedis();
});
resent.before.each(async (context) => {
  const { server } = context;
  await server.command('FLUSHALL');
  const proxy = await startProxy(server.port);
  const redis = new Redis(proxy.port, { retryStrategy: () => 20 });
  const direct = new Redis(server.port);
  redis.on('error', () => {});
  await redis.ping();
  Object.assign(context, { proxy, redis, direct });
  context.open = (limit) => ({
    cut: new RateLimiter({ name: 'resent', limit, redis }),
    whole: new RateLimiter({ name: 'resent', limit, redis: direct }),
  });
});
resent.after.each(async ({ redis, direct, proxy }) => {
  redis.disconnect();
  direct.disconnect();
  await proxy.close();
});
resent.after(({ server }) => server.stop());

// No permit comes back by itself, and all grants of a test are in one slot: so a double refund shows.
const interval = 86_400_000;
const limits = [
  slidingWindow({ permits: 100, interval, resolution: interval }),
  fixedWindow({ permits: 100, interval }),
  tokenBucket({ permits: 100, interval }),
];

for (const limit of limits) {
  test(`${limit.kind}: restores a refund once, however often it is sent`, async ({ open, proxy }) => {
    const { cut, whole } = open(limit);
    const [kept, unused] = [await cut.acquire(40), await cut.acquire(10)];
    proxy.cutReplies(3);
    await unused.refund();
    assert.is(proxy.cuts, 3);
    assert.is(await whole.availablePermits(), 60);
    await kept.refund();
    // A bucket's two refunds exclude what was refilled while they were made; it refills in that time again.
    await until('all permits are back', async () => (await whole.availablePermits()) === 100);
  });

  test(`${limit.kind}: loses only the permits of the first run of a reserve that is sent again`, async (context) => {
    const { open, proxy } = context;
    const { cut, whole } = open(limit);
    proxy.cutReplies(2);
    const permit = await cut.acquire(10);
    assert.is(proxy.cuts, 2);
    assert.is(await whole.availablePermits(), 70);
    await permit.refund();
    assert.is(await whole.availablePermits(), 80);
  });

  test(`${limit.kind}: refunds a request that is cancelled while its call is sent again`, async (context) => {
    const { open, proxy, redis } = context;
    const { cut, whole } = open(limit);
    const controller = new AbortController();
    proxy.cutReplies();
    const request = cut.acquire(10, { signal: controller.signal }).catch((reason: unknown) => reason);
    await new Promise((resolve) => redis.once('close', resolve));
    controller.abort('no longer');
    assert.is(await request, 'no longer');
    // The first run is lost; the second is answered and refunded.
    await until('the second run is given back', async () => (await whole.availablePermits()) === 90);
    assert.is(proxy.cuts, 1);
  });
}

test('answers each of many requests once after one lost reply', async ({ open, proxy }) => {
  const { cut, whole } = open(limits[0]);
  proxy.cutReplies();
  const permits = await Promise.all(Array.from({ length: 20 }, () => cut.acquire()));
  assert.is(new Set(permits).size, 20);
  const available = await whole.availablePermits();
  assert.ok(available < 80 && available >= 60, `${available} are left`);
});

resent.run();
