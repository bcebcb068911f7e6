import type { Socket } from 'node:net';
import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter, RateType, RedissonRateLimiter, slidingWindow } from '../../src/index.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { type RedisCluster, startCluster } from '../support/redisCluster.ts';
import { until } from '../support/until.ts';

const test = suite<{ cluster: RedisCluster }>('calls that a lost connection of a cluster drops');
test.before(async (context) => {
  context.cluster = await startCluster();
});
test.after.each(({ cluster }) => {
  for (const node of cluster.nodes) node.thaw();
});
test.after(({ cluster }) => cluster.stop());

const limit = slidingWindow({ permits: 100, interval: 60_000 });

const clients = [
  [6, Cluster],
  [5, Cluster5 as unknown as typeof Cluster],
] as const;
for (const [version, Client] of clients)
  for (const redisOptions of [{}, { autoResendUnfulfilledCommands: false }, { enableOfflineQueue: false }])
    test(`ioredis ${version} with ${JSON.stringify(redisOptions)}: are made again at once, without a storeTimeout too`, async ({
      cluster,
    }) => {
      const redis = new Client(cluster.addresses, { redisOptions });
      redis.on('error', () => {});
      const limiter = new RateLimiter({ name: 'dropped', limit, redis, storeTimeout: Infinity });
      await limiter.acquire();
      const close = () => {
        for (const { stream } of redis.nodes('all') as unknown as { stream?: Socket }[]) stream?.destroy();
      };
      // Before the call is written.
      const unwritten = limiter.acquire();
      close();
      assert.is((await unwritten).source, 'redis');
      // After it was written, and before it was answered.
      for (const node of cluster.nodes) node.freeze();
      const calls = [limiter.acquire(), limiter.decide(), limiter.availablePermits()];
      await new Promise((resolve) => setTimeout(resolve, 50));
      close();
      for (const node of cluster.nodes) node.thaw();
      await Promise.all(calls);
      await limiter.close();
      redis.disconnect();
    });

for (const [[version, Client], options] of [
  [clients[0], { keyPrefix: 'app:' }],
  [clients[1], {}],
] as const)
  aboutIoredis(test, 'its list of nodes')(
    `ioredis ${version} with ${JSON.stringify(options)}: are made on the master, when a replica is the only node it still knows`,
    async ({ cluster }) => {
      const redis = new Client(cluster.addresses, options);
      redis.on('error', () => {});
      const limiter = new RateLimiter({ name: 'dropped', limit, redis });
      const shared = new RedissonRateLimiter(redis, '{dropped}');
      await shared.trySetRate(RateType.OVERALL, 100, 60_000);
      const owner = await cluster.ownerOf(
        await cluster.slotOf(`${redis.options.keyPrefix ?? ''}{sluice:dropped}`),
      );
      await limiter.acquire();
      const replica = cluster.replicas[0] ?? (await cluster.addReplica(owner));
      await until('the client knows the replica', async () => {
        await new Promise<void>((resolve) => redis.refreshSlotsCache(() => resolve()));
        return redis.nodes('slave').length === 1;
      });
      for (const node of redis.nodes('master')) node.disconnect();
      await until('the client knows no master', async () => redis.nodes('master').length === 0);
      assert.is(redis.nodes('all')[0].options.port, replica.port);
      const calls = [limiter.acquire(), limiter.decide(), limiter.availablePermits(), limiter.pauseFor(0)];
      await Promise.all([...calls, shared.acquire(), shared.availablePermits()]);
      assert.is(redis.nodes('master').length, 3);
      await Promise.all([limiter.close(), shared.close()]);
      redis.disconnect();
    },
  );

test.run();
