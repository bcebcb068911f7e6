import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, type ClusterOptions } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { recordedLimiter } from '../faults/histories.ts';
import { assertAllEnded, Load } from '../faults/load.ts';
import { overBucket, overSliding } from '../properties/oracle.ts';
import { limitOf } from '../properties/specs.ts';
import { withOptions } from '../support/anyClient.ts';
import { type RedisCluster, startCluster } from '../support/redisCluster.ts';
import { until } from '../support/until.ts';

interface OnCluster {
  cluster: RedisCluster;
  connect(options?: ClusterOptions): Cluster;
}

const test = suite<OnCluster>('limiters on a cluster');
let connections: Cluster[] = [];
test.before(async (context) => {
  context.cluster = await startCluster();
  context.connect = (options) => {
    const connection = new Cluster(context.cluster.addresses, options);
    connections.push(connection);
    return connection;
  };
});
test.after.each(() => {
  for (const connection of connections) connection.disconnect();
  connections = [];
});
test.after(({ cluster }) => cluster.stop());

const settings: [string, ClusterOptions][] = [
  ['a cluster', {}],
  ['a cluster with automatic pipelines', { enableAutoPipelining: true }],
  ['a cluster that reads from replicas', { scaleReads: 'slave' }],
];

for (const [title, options] of settings)
  withOptions(test, options)(
    `limiters on all nodes of ${title} grant within their limits`,
    async ({ cluster, connect }) => {
      const redis = connect(options);
      const names = Array.from({ length: 12 }, (_, i) => `${title} ${i}`);
      const owners = names.map(async (name) => cluster.ownerOf(await cluster.slotOf(`{sluice:${name}}`)));
      assert.is(new Set(await Promise.all(owners)).size, 3);
      const window = slidingWindow({ permits: 5, interval: 60_000 });
      const bucket = tokenBucket({ permits: 9, interval: 60_000 });
      await Promise.all(
        names.map(async (name) => {
          const limiter = new RateLimiter({ name, limit: { window, bucket }, redis });
          const permit = await limiter.acquire(2);
          const granted = await Promise.all([1, 2, 3, 4].map(() => limiter.tryAcquire()));
          assert.equal(granted, [true, true, true, false]);
          await permit.refund(1);
          const { granted: once, remaining } = await limiter.decide();
          assert.equal({ once, remaining }, { once: true, remaining: 0 });
          assert.equal(await limiter.availablePermits({ detail: true }), { window: 0, bucket: 4 });
          await limiter.close();
        }),
      );
    },
  );

test('a rate and a pause are in the slot of their limiter, on any node', async ({ connect }) => {
  const redis = connect();
  const limit = slidingWindow({ permits: 5, interval: 60_000 });
  const rate = tokenBucket({ permits: 9, interval: 60_000 });
  const names = Array.from({ length: 12 }, (_, i) => `steered} ${i}`);
  await Promise.all(
    names.map(async (name) => {
      const [a, b] = [0, 1].map(() => new RateLimiter({ name, limit, redis }));
      await a.setRate(rate);
      assert.equal(await b.getRate(), { limit: rate, stored: true });
      await b.pauseFor(60_000);
      assert.not(await a.tryAcquire());
      await a.reset();
      assert.ok(await b.tryAcquire(9));
      await b.release(4);
      assert.is(await a.availablePermits(), 4);
      await a.delete();
      assert.is(await b.availablePermits(), 5);
      await Promise.all([a.close(), b.close()]);
    }),
  );
});

test('a slot that moves during use loses no permit, and adds none', async ({ cluster, connect }) => {
  const spec = { kind: 'slidingWindow', permits: 30, interval: 300, resolution: 1 } as const;
  const limits = {
    window: limitOf(spec),
    bucket: tokenBucket({ permits: 40, interval: 300, burst: 20 }),
  };
  const loads = [connect(), connect()].map(
    (redis) => new Load(recordedLimiter('moving', spec, redis, { limit: limits }), 3),
  );
  const momentsNow = () =>
    loads.flatMap(({ requests }) => requests.permits.map(({ grantedAt }) => grantedAt));
  const slot = await cluster.slotOf('{sluice:moving}');
  const from = Date.now();
  const [first, second] = await moveTwice(cluster, slot, momentsNow);
  await assertAllEnded(loads, { faults: [[from, Date.now()]] });
  const moments = momentsNow();
  assert.is.not(first, second);
  const standing = moments.map((t) => ({ t, n: 1 }));
  assert.is(overSliding(spec, standing), undefined);
  assert.is(overBucket(limits.bucket, standing), undefined);
  await cluster.settled();
});

/** Moves the slot to another node and back, slowly, with grants before, during and after; returns its owners. */
async function moveTwice(
  cluster: RedisCluster,
  slot: number,
  moments: () => readonly number[],
): Promise<string[]> {
  const owners: string[] = [];
  for (let i = 0; i < 2; i++) {
    await sleep(400);
    const before = moments().length;
    const move = await cluster.openSlot(slot);
    await sleep(150);
    await move.moveKeys();
    await sleep(150);
    await move.finish();
    owners.push(move.to.url);
    await until('grants go on', async () => moments().length > before);
  }
  return owners;
}

test.run();
