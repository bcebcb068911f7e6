// Decisions that are requested together over one connection share calls, and behave as alone.
import { Cluster, type Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import {
  fixedWindow,
  RateLimiter,
  RateLimiterGroup,
  StoreUnavailableError,
  slidingWindow,
} from '../../src/index.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { startCluster } from '../support/redisCluster.ts';
import { startRedis } from '../support/redisServer.ts';
import { callsOf } from '../support/scriptCalls.ts';
import { redisSuite } from './redisSuite.ts';

const shared = redisSuite('shared calls');
const test = aboutIoredis(shared, 'decisions over other clients share no calls');
const limit = fixedWindow({ permits: 5, interval: 600_000 });
const keys = Array.from({ length: 64 }, (_, i) => `user ${i}`);

const groupOf = (redis: Redis, options = {}) =>
  new RateLimiterGroup({ name: 'api', limit, redis, ...options });
const decideAll = (group: RateLimiterGroup, some = keys) =>
  Promise.all(some.map((key) => group.get(key).decide()));

test('64 decisions take four calls, a single one is a call of its own', async ({ redis }) => {
  const group = groupOf(redis);
  await decideAll(group);
  assert.is(await callsOf(redis, () => decideAll(group)), 4);
  assert.is(await callsOf(redis, () => group.get('user 1').decide()), 1);
  assert.is(await group.get('user 1').availablePermits(), 2);
  assert.is(await group.get('user 2').availablePermits(), 3);
});

test('refusals share calls, too, and tell the wait', async ({ redis }) => {
  const group = groupOf(redis);
  const some = keys.slice(0, 8);
  for (let i = 0; i < 5; i++) assert.ok((await decideAll(group, some)).every(({ granted }) => granted));
  let refused: Awaited<ReturnType<typeof decideAll>> = [];
  assert.is(
    await callsOf(redis, async () => {
      refused = await decideAll(group, some);
    }),
    1,
  );
  for (const { granted, remaining, retryAfter } of refused) {
    assert.equal({ granted, remaining }, { granted: false, remaining: 0 });
    // The window opened at a millisecond rounded up, which may not have come yet.
    assert.ok(retryAfter > 500_000 && retryAfter <= 600_001, `${retryAfter} ms`);
  }
});

test('limits of 2^52 permits and more are refused with all digits', async ({ redis }) => {
  const limit = fixedWindow({ permits: 2 ** 53 - 2, interval: 1 });
  const decisions = await decideAll(groupOf(redis, { limit }), keys.slice(0, 4));
  assert.equal(
    decisions.map(({ remaining }) => remaining),
    Array(4).fill(2 ** 53 - 3),
  );
});

test('decisions of one key are granted in their order', async ({ redis }) => {
  const limiter = groupOf(redis).get('a');
  const decisions = await Promise.all(Array.from({ length: 7 }, () => limiter.decide()));
  assert.equal(
    decisions.map(({ remaining, granted }) => (granted ? remaining : -1)),
    [4, 3, 2, 1, 0, -1, -1],
  );
});

test('limiters with other limits, and other costs, keep the order of their calls', async ({ redis }) => {
  const [one, other] = [
    groupOf(redis),
    groupOf(redis, { name: 'other', limit: slidingWindow({ permits: 9, interval: 600_000 }) }),
  ];
  const decisions = await Promise.all([
    one.get('a').decide(),
    other.get('a').decide(),
    one.get('a').decide(3),
    one.get('a').decide(),
    other.get('b').decide(),
    one.get('b').decide(),
  ]);
  assert.equal(
    decisions.map(({ remaining }) => remaining),
    [4, 8, 1, 0, 8, 4],
  );
});

test('a reset after a decision in one turn forgets it', async ({ redis }) => {
  const group = groupOf(redis);
  const [, decision] = [
    ...keys.slice(0, 3).map((key) => group.get(key).decide()),
    group.get('user 0').decide(),
  ];
  await Promise.all([decision, group.get('user 0').reset()]);
  assert.is(await group.get('user 0').availablePermits(), 5);
  assert.is(await group.get('user 1').availablePermits(), 4);
});

test('a damaged key fails its own decision only', async ({ redis }) => {
  const group = groupOf(redis);
  await redis.set('{sluice:api%:user 3}', 'x'.repeat(200));
  await redis.hset('{sluice:api%:user 5}', 'a', 1);
  await redis.set('{sluice:api%:user 7}:control', 'x');
  const ends = await Promise.allSettled(keys.slice(0, 16).map((key) => group.get(key).decide()));
  for (const [i, end] of ends.entries())
    if (end.status === 'fulfilled') assert.ok(end.value.granted && ![3, 5, 7].includes(i));
    else assert.match(end.reason.message, new RegExp(`user ${i}\\}`));
  assert.is(ends.filter(({ status }) => status === 'rejected').length, 3);
  assert.is(await group.get('user 0').availablePermits(), 4);
});

test('a key with another rate, a paused one and a long log are served among others', async ({ redis }) => {
  const limit = slidingWindow({ permits: 40, interval: 600_000, resolution: 1 });
  const group = groupOf(redis, { limit });
  const other = groupOf(redis, { limit });
  await group.get('user 1').setRate(fixedWindow({ permits: 2, interval: 600_000 }));
  await group.get('user 2').pauseFor(600_000);
  const some = keys.slice(0, 6);
  for (let i = 1; i <= 14; i++) {
    const decisions = await decideAll(i % 3 === 0 ? other : group, some);
    const expected = some.map((_, user) => (user === 1 ? Math.max(0, 2 - i) : user === 2 ? 0 : 40 - i));
    assert.equal(
      decisions.map(({ remaining }) => remaining),
      expected,
    );
    assert.is(decisions[2].granted, false);
    assert.is(decisions[1].granted, i <= 2);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  // The logs are lists now, and the two others are alone.
  assert.is(await callsOf(redis, () => decideAll(group, some)), 3);
});

test('a server that has forgotten the scripts gets their texts again', async ({ redis }) => {
  const group = groupOf(redis);
  await decideAll(group);
  await redis.script('FLUSH');
  assert.ok((await decideAll(group)).every(({ remaining }) => remaining === 3));
});

test('the prefix of a connection is in front of each key', async ({ redis, connect }) => {
  const prefixed = connect({ keyPrefix: 'mine:' });
  const group = groupOf(prefixed);
  await decideAll(group);
  assert.ok((await decideAll(group)).every(({ remaining }) => remaining === 3));
  assert.is((await redis.keys('mine:{sluice:api%:*}')).length, keys.length);
});

test('a key without permission fails its own decision only, and the others share no more calls', async ({
  redis,
  connect,
  server,
}) => {
  await server.command('ACL', 'SETUSER', 'some', 'reset', 'on', '>secret', '~{sluice:api%:user?1*', '+@all');
  const group = groupOf(connect({ username: 'some', password: 'secret' }));
  const some = ['user 1', 'user 2', 'user 10', 'user 11'];
  const decide = () => Promise.allSettled(some.map((key) => group.get(key).decide()));
  const ends = await decide();
  assert.equal(
    ends.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  // The refused one does not count.
  assert.is(await callsOf(redis, decide), 3);
});

test('a write that is refused fails its own decision only', async ({ connect, server }) => {
  await server.command('ACL', 'SETUSER', 'some', 'reset', 'on', '>secret', '~*', '+@all', '-setrange');
  const group = groupOf(connect({ username: 'some', password: 'secret' }));
  await decideAll(group, ['a', 'c']);
  const ends = await Promise.allSettled(['b', 'a', 'd', 'c'].map((key) => group.get(key).decide()));
  assert.equal(
    ends.map((end) => (end.status === 'fulfilled' ? end.value.remaining : end.reason.code)),
    [4, 'ERR_SLUICE_STORE', 4, 'ERR_SLUICE_STORE'],
  );
});

test('without a ready check, as behind a proxy that distributes keys, each decision is a call', async ({
  redis,
  connect,
}) => {
  const group = groupOf(connect({ enableReadyCheck: false }));
  await decideAll(group);
  assert.is(await callsOf(redis, () => decideAll(group)), keys.length);
});

test('a server with several nodes refuses keys of several slots: each decision is made alone', async ({
  afterwards,
}) => {
  const server = await startRedis({ config: ['cluster-enabled yes'] });
  afterwards(() => server.stop());
  await server.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  const { Redis } = await import('ioredis');
  const redis = new Redis(server.port);
  afterwards(() => redis.disconnect());
  while (!/cluster_state:ok/.test(String(await redis.cluster('INFO'))))
    await new Promise((resolve) => setTimeout(resolve, 50));
  const group = groupOf(redis);
  assert.ok((await decideAll(group)).every(({ remaining }) => remaining === 4));
  assert.is(await callsOf(redis, () => decideAll(group)), keys.length);
});

test('decisions over a cluster share no calls', async ({ afterwards }) => {
  const nodes = await startCluster();
  afterwards(() => nodes.stop());
  const cluster = new Cluster(nodes.addresses);
  afterwards(() => cluster.disconnect());
  const group = new RateLimiterGroup({ name: 'api', limit, redis: cluster });
  await decideAll(group);
  assert.ok((await decideAll(group)).every(({ remaining }) => remaining === 3));
});

test('without replies, each decision fails after storeTimeout, or is made by the fallback', async ({
  redis,
  server,
}) => {
  const group = groupOf(redis, { storeTimeout: 100 });
  const local = groupOf(redis, { name: 'local', fallback: { mode: 'allow', timeout: 100 } });
  // On a busy machine, connecting takes longer than storeTimeout.
  await redis.ping();
  await Promise.all([decideAll(group), decideAll(local)]);
  server.freeze();
  const [ends, allowed] = await Promise.all([
    Promise.allSettled(keys.map((key) => group.get(key).decide())),
    decideAll(local),
  ]);
  server.thaw();
  for (const end of ends) assert.instance((end as PromiseRejectedResult).reason, StoreUnavailableError);
  assert.ok(allowed.every(({ granted }) => granted));
  await group.close();
  await local.close();
});

test('limiters of equal limits share calls, too', async ({ redis }) => {
  const limiters = keys.slice(0, 10).map((name) => new RateLimiter({ name, limit, redis }));
  const all = () => Promise.all(limiters.map((limiter) => limiter.decide()));
  await all();
  assert.is(await callsOf(redis, all), 1);
  assert.is(await limiters[3].availablePermits(), 3);
});

shared.run();
