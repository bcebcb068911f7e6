// Long faults of a cluster: slots that stay half moved, and a lost master.
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, type ClusterOptions } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FallbackOptions, StoreUnavailableError } from '../../src/index.ts';
import { recordedLimiter } from '../faults/histories.ts';
import { assertAllEnded, Load, overWithLosses } from '../faults/load.ts';
import { standing } from '../faults/requests.ts';
import { overSliding } from '../properties/oracle.ts';
import { type RedisCluster, startCluster } from '../support/redisCluster.ts';
import { until } from '../support/until.ts';

// So many permits that the log has a key of its own.
const spec = { kind: 'slidingWindow', permits: 60, interval: 400, resolution: 1 } as const;

interface OnCluster {
  cluster: RedisCluster;
  /** Two limiters under load, each on its own connection. */
  load(name: string, fallback?: FallbackOptions, options?: ClusterOptions): Load[];
}

const test = suite<OnCluster>('a cluster under load');
let connections: Cluster[] = [];
test.before(async (context) => {
  context.cluster = await startCluster({ nodeTimeout: 3_000 });
  context.load = (name, fallback, options = {}) =>
    [1, 2].map(() => {
      const redis = new Cluster(context.cluster.addresses, {
        clusterRetryStrategy: () => 50,
        slotsRefreshTimeout: 3_000,
        ...options,
      });
      redis.on('error', () => {});
      connections.push(redis);
      return new Load(recordedLimiter(name, spec, redis, { fallback }), 30);
    });
});
test.after.each(() => {
  for (const connection of connections) connection.disconnect();
  connections = [];
});
test.after(({ cluster }) => cluster.stop());

const grantsOf = (loads: readonly Load[]) => loads.flatMap(({ requests }) => requests.permits);
const errorsOf = (loads: readonly Load[]) => loads.flatMap(({ requests }) => requests.errors);

async function granted(loads: readonly Load[], more = 60): Promise<void> {
  const before = grantsOf(loads).length;
  await until('grants go on', async () => grantsOf(loads).length >= before + more);
}

/** Moves a limiter's slot to another node and stops half way, with some of its keys on each. */
async function halfWay(cluster: RedisCluster, name: string, lasts: number): Promise<void> {
  const slot = await cluster.slotOf(`{sluice:${name}}`);
  const move = await cluster.openSlot(slot);
  const keys = (await move.from.command('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
  assert.ok(keys.length >= 2, `the keys are ${keys}`);
  await move.from.command('MIGRATE', move.to.host, move.to.port, keys[0], 0, 5_000);
  await sleep(lasts);
  await move.moveKeys();
  await move.finish();
}

test('a slot half moved for three seconds, without a fallback: requests wait, never exceeds the limit, and rejects none', async ({
  cluster,
  load,
}) => {
  const loads = load('halfWay');
  await granted(loads);
  const from = Date.now();
  await halfWay(cluster, 'halfWay', 3_000);
  await granted(loads);
  await assertAllEnded(loads, { faults: [[from, Date.now()]] });
  assert.equal(errorsOf(loads).map(String), []);
  assert.is(overSliding(spec, standing(grantsOf(loads))), undefined);
});

test('a slot half moved for longer than the timeout of a fallback: rejects in time, never exceeds the limit, and grants again', async ({
  cluster,
  load,
}) => {
  const loads = load('rejecting', { mode: 'reject', timeout: 300, cooldown: 100 });
  await granted(loads);
  const from = Date.now();
  await halfWay(cluster, 'rejecting', 1_000);
  await granted(loads);
  await assertAllEnded(loads, { faults: [[from, Date.now()]] });
  assert.ok(errorsOf(loads).length > 0);
  for (const error of errorsOf(loads)) assert.instance(error, StoreUnavailableError);
  assert.is(overSliding(spec, standing(grantsOf(loads))), undefined);
});

test('a slot that moves repeatedly under load: never exceeds the limit, in order, and rejects none', async ({
  cluster,
  load,
}) => {
  const loads = load('moving');
  const slot = await cluster.slotOf('{sluice:moving}');
  const from = Date.now();
  for (let i = 0; i < 4; i++) {
    await granted(loads, 30);
    await cluster.moveSlot(slot);
  }
  await granted(loads);
  await assertAllEnded(loads, { faults: [[from, Date.now()]] });
  assert.equal(errorsOf(loads).map(String), []);
  assert.is(overSliding(spec, standing(grantsOf(loads))), undefined);
});

test('a master killed and its replica promoted: requests continue there, and at most one more limit is granted', async ({
  cluster,
  load,
}) => {
  await cluster.settled();
  const slot = await cluster.slotOf('{sluice:promoted}');
  const master = await cluster.ownerOf(slot);
  const replica = await cluster.addReplica(master);
  const loads = load('promoted', undefined, { scaleReads: 'slave' });
  await granted(loads);
  assert.equal(errorsOf(loads).map(String), []);
  await master.kill();
  const lost = Date.now();
  const asked = cluster.nodes.find((node) => node !== master)!;
  await cluster.promote(replica, master, asked);
  await granted(loads, 120);
  await Promise.all(loads.map((one) => one.stop()));
  for (const error of errorsOf(loads)) assert.instance(error, StoreUnavailableError);
  await assertAllEnded(loads, { losses: [lost], faults: [[lost, Date.now()]] });
  assert.is(overWithLosses(spec, standing(grantsOf(loads)), [lost]), undefined);
});

test.run();
