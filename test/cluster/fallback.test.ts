import { Cluster } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, RateLimiter } from '../../src/index.ts';
import { withOptions } from '../support/anyClient.ts';
import { type RedisCluster, startCluster } from '../support/redisCluster.ts';
import { until } from '../support/until.ts';

const limit = fixedWindow({ permits: 100, interval: 86_400_000 });

const test = suite<{ cluster: RedisCluster; redis: Cluster }>('fallback: a cluster');
test.before(async (context) => {
  context.cluster = await startCluster();
  context.redis = new Cluster(context.cluster.addresses);
  context.redis.on('error', () => {});
});
test.after(async ({ cluster, redis }) => {
  redis.disconnect();
  await cluster.stop();
});

test('a lost master is unavailable, and is used again after its return', async ({ cluster, redis }) => {
  const limiter = new RateLimiter({
    name: 'lost',
    limit,
    redis,
    fallback: { timeout: 300, cooldown: 300 },
  });
  // On a busy machine, the first call may exceed the timeout.
  await until('Redis serves', async () => (await limiter.acquire()).source === 'redis');
  const owner = await cluster.ownerOf(await cluster.slotOf('{sluice:lost}'));
  await owner.kill();
  for (let i = 0; i < 5; i++) assert.is((await limiter.acquire()).source, 'fallback');
  await owner.start();
  await until('the master serves', async () => (await limiter.acquire()).source === 'redis');
  assert.ok(await limiter.tryAcquire());
  await limiter.close();
});

for (const options of [{}, { lazyConnect: true }])
  withOptions(test, options)(
    `waits for a cluster that is starting: ${JSON.stringify(options)}`,
    async ({ cluster }) => {
      const redis = new Cluster(cluster.addresses, options);
      const limiter = new RateLimiter({ name: 'lazy', limit, redis, fallback: { timeout: 5_000 } });
      assert.is((await limiter.acquire()).source, 'redis');
      await limiter.close();
      redis.disconnect();
    },
  );

test('an absent cluster is unavailable at once', async () => {
  const redis = new Cluster([{ host: '127.0.0.1', port: 1 }], { clusterRetryStrategy: () => 50 });
  redis.on('error', () => {});
  const limiter = new RateLimiter({ name: 'nowhere', limit, redis, fallback: { timeout: 10_000 } });
  assert.is((await limiter.acquire()).source, 'fallback');
  await limiter.close();
  redis.disconnect();
});

test.run();
