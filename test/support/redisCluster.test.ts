import { Cluster } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type RedisCluster, startCluster } from './redisCluster.ts';

let cluster: RedisCluster;
test.before(async () => {
  cluster = await startCluster();
});
test.after(() => cluster.stop());

// Their slots are 3300, 7365 and 15495: one on each node.
const keys = ['b', 'c', 'a'];

test('a cluster serves keys of all three nodes', async () => {
  const owners = await Promise.all(keys.map(async (key) => cluster.ownerOf(await cluster.slotOf(key))));
  assert.is(new Set(owners).size, 3);
  const redis = new Cluster(cluster.addresses);
  assert.equal(await Promise.all(keys.map((key) => redis.incr(key))), [1, 1, 1]);
  redis.disconnect();
});

test('while a slot is open its old owner replies ASK for missing keys, afterwards MOVED', async () => {
  const slot = await cluster.slotOf('{move}');
  const move = await cluster.openSlot(slot);
  const asked = await move.from.command('GET', '{move}new').catch((error) => error.message);
  assert.is(asked, `ASK ${slot} ${move.to.host}:${move.to.port}`);
  const redis = new Cluster(cluster.addresses);
  await redis.set('{move}new', 1);
  assert.is(await move.moveKeys(), 0);
  assert.is(await redis.get('{move}new'), '1');
  await move.finish();
  const moved = await move.from.command('GET', '{move}new').catch((error) => error.message);
  assert.is(moved, `MOVED ${slot} ${move.to.host}:${move.to.port}`);
  assert.is(await redis.get('{move}new'), '1');
  redis.disconnect();
});

test('a slot moves with its keys', async () => {
  const redis = new Cluster(cluster.addresses);
  await redis.set('moving', 'here');
  const slot = await cluster.slotOf('moving');
  const before = await cluster.ownerOf(slot);
  const { to } = await cluster.moveSlot(slot);
  assert.is.not(to, before);
  assert.is(await cluster.ownerOf(slot), to);
  assert.is(await to.command('GET', 'moving'), 'here');
  assert.is(await redis.get('moving'), 'here');
  await cluster.settled();
  redis.disconnect();
});

test.run();
