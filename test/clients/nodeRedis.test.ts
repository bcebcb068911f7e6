import { EventEmitter } from 'node:events';
import { createClient, createClientPool, createCluster, RESP_TYPES } from 'redis';
import {
  createClient as createClient5,
  createClientPool as createClientPool5,
  createCluster as createCluster5,
} from 'redis5';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  nodeRedis,
  RateLimiter,
  RateType,
  RedissonRateLimiter,
  StoreUnavailableError,
  slidingWindow,
  valkeyGlide,
} from '../../src/index.ts';
import { freePort } from '../support/ports.ts';
import { startProxy } from '../support/proxy.ts';
import { startCluster } from '../support/redisCluster.ts';
import { startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';

const test = suite('node-redis');
const limit = slidingWindow({ permits: 3, interval: 60_000 });

const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => value,
    (error: unknown) => error,
  );

test('one client has one adapter, so that its limiters are one client of the fleet', () => {
  const client = createClient();
  assert.is(nodeRedis(client), nodeRedis(client));
  assert.is.not(nodeRedis(client), nodeRedis(createClient()));
});

test('other objects are refused, with the names of the adapters', () => {
  const client = createClient();
  for (const redis of [client, {}, 'redis://localhost', null])
    assert.throws(
      () => new RateLimiter({ name: 'api', limit, redis: redis as never }),
      /^redis: expected an ioredis Redis or Cluster, nodeRedis\(client\) or valkeyGlide\(client\), got/,
    );
  assert.throws(() => new RedissonRateLimiter(client as never, 'jvm'), /nodeRedis\(client\)/);
  for (const wrong of [undefined, {}, nodeRedis(client)]) {
    assert.throws(() => nodeRedis(wrong as never), /^client: expected a client of node-redis 5 or newer/);
    assert.throws(() => valkeyGlide(wrong as never), /^client: expected a client of Valkey GLIDE/);
  }
});

test('the status is that of the client', () => {
  const client = Object.assign(new EventEmitter(), {
    isOpen: false,
    isReady: false,
    eval: async () => 0,
    evalSha: async () => 0,
    withTypeMapping: () => client,
  });
  const redis = nodeRedis(client as never);
  const statuses = [redis.status];
  const after = (change: object, event?: string) => {
    Object.assign(client, change);
    if (event) client.emit(event);
    statuses.push(redis.status);
  };
  after({ isOpen: true });
  after({}, 'reconnecting');
  after({ isReady: true }, 'ready');
  after({ isReady: false }, 'reconnecting');
  after({ isOpen: false }, 'end');
  assert.equal(statuses, ['connecting', 'connecting', 'reconnecting', 'ready', 'reconnecting', 'end']);
});

for (const [version, createPool] of [
  [6, createClientPool],
  [5, createClientPool5 as never as typeof createClientPool],
] as const)
  test(`a pool of node-redis ${version} grants, takes refunds in any order, and recovers`, async () => {
    const server = await startRedis();
    const pool = createPool({ url: server.url, socket: { reconnectStrategy: () => 20 } });
    pool.on('error', () => {});
    await pool.connect();
    const large = slidingWindow({ permits: 200, interval: 60_000 });
    const limiter = new RateLimiter({ name: 'api', limit: large, redis: nodeRedis(pool) });
    const permits = await Promise.all(Array.from({ length: 200 }, () => limiter.acquire()));
    assert.is(await limiter.tryAcquire(), false);
    await Promise.all(
      permits.map(async (permit, i) => {
        for (let turn = 0; turn < i % 7; turn++) await new Promise(setImmediate);
        await permit.refund();
      }),
    );
    assert.is(await limiter.availablePermits(), 200);
    await server.kill();
    await server.start();
    await until('it grants again', () => limiter.tryAcquire().catch(() => false));
    await limiter.close();
    pool.destroy();
    await server.stop();
  });

test('a request waits for a client that is connecting, and fails over if it cannot connect', async () => {
  const server = await startRedis();
  const clients = [server.port, await freePort()].map((port) =>
    createClient({ socket: { port, reconnectStrategy: () => 20 } }).on('error', () => {}),
  );
  const sources = clients.map(async (client, i) => {
    const fallback = { mode: 'local', ratio: 1, timeout: 2_000 } as const;
    const limiter = new RateLimiter({ name: `api ${i}`, limit, redis: nodeRedis(client), fallback });
    const acquired = limiter.acquire();
    client.connect().catch(() => {});
    const { source } = await acquired;
    await limiter.close();
    client.destroy();
    return source;
  });
  assert.equal(await Promise.all(sources), ['redis', 'fallback']);
  await server.stop();
});

for (const [version, create] of Object.entries({
  6: createClient,
  5: createClient5 as unknown as typeof createClient,
}))
  test(`node-redis ${version}: calls wait for the connection here, unless the client would reject them at once`, async () => {
    const server = await startRedis();
    const proxy = await startProxy(server.port);
    const open = async (disableOfflineQueue: boolean, attempts = Infinity) => {
      const reconnectStrategy = (retries: number) => (retries < attempts ? 20 : false);
      const client = create({ disableOfflineQueue, socket: { port: proxy.port, reconnectStrategy } });
      client.on('error', () => {});
      const limiterOf = (storeTimeout: number) =>
        new RateLimiter({ name: 'api', limit, redis: nodeRedis(client as never), storeTimeout });
      const early = await errorOf(limiterOf(60_000).decide());
      assert.match((early as Error).message, 'closed', 'before connect()');
      await client.connect();
      await limiterOf(60_000).availablePermits();
      return { client, limiterOf };
    };
    const [queueing, rejecting, ending] = [await open(false), await open(true), await open(false, 20)];
    await proxy.close();
    const isLost = async () => [queueing, rejecting, ending].every(({ client }) => !client.isReady);
    await until('the clients know', isLost);
    const patient = queueing.limiterOf(60_000).decide();
    assert.instance(await errorOf(queueing.limiterOf(200).decide()), StoreUnavailableError);
    assert.match(((await errorOf(rejecting.limiterOf(60_000).decide())) as Error).message, 'offline');
    // When it gives up, it rejects what it has queued.
    assert.match(((await errorOf(ending.limiterOf(60_000).decide())) as Error).message, 'ECONNREFUSED');
    await proxy.reopen();
    assert.is((await patient).remaining, 2);
    for (const { client } of [queueing, rejecting]) client.destroy();
    await proxy.close();
    await server.stop();
  });

test('mapped types and a key prefix of the client change nothing', async () => {
  const server = await startRedis();
  const client = createClient({
    socket: { port: server.port },
    keyPrefix: 'app:',
    commandOptions: {
      typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String },
    },
  });
  await client.connect();
  const [own, other] = [limit, slidingWindow({ permits: 9, interval: 60_000 })].map(
    (one) => new RateLimiter({ name: 'api', limit: one, redis: nodeRedis(client) }),
  );
  await other.setRate(limit);
  assert.ok(await own.tryAcquire(2));
  assert.is(await other.availablePermits(), 1);
  const keys = (await server.command('KEYS', '*')) as string[];
  assert.ok(keys.length > 0 && keys.every((key) => key.startsWith('app:{sluice:api}')), keys.join());
  await Promise.all([own.close(), other.close()]);
  client.destroy();
  await server.stop();
});

test('closed limiters leave one listener on the client', async () => {
  const server = await startRedis();
  const client = createClient({ socket: { port: server.port } }).on('error', () => {});
  await client.connect();
  const limiters = Array.from(
    { length: 20 },
    (_, i) => new RateLimiter({ name: `${i}`, limit, redis: nodeRedis(client), fallback: 'local' }),
  );
  await Promise.all(limiters.map((limiter) => limiter.acquire()));
  const most = ['ready', 'reconnecting', 'end', 'error'].map((event) => client.listenerCount(event));
  assert.ok(Math.max(...most) <= 3, `${most}`);
  await Promise.all(limiters.map((limiter) => limiter.close()));
  assert.equal(
    ['ready', 'reconnecting', 'end', 'error'].map((event) => client.listenerCount(event)),
    [0, 1, 0, 1],
  );
  client.destroy();
  await server.stop();
});

test('limiters on all nodes of a cluster, while a slot moves', async () => {
  const cluster = await startCluster();
  for (const [version, create] of Object.entries({
    6: createCluster,
    5: createCluster5 as unknown as typeof createCluster,
  })) {
    const client = create({
      rootNodes: cluster.addresses.map(({ host, port }) => ({ socket: { host, port } })),
    });
    client.on('error', () => {});
    // The first requests wait for it.
    const connecting = client.connect();
    const redis = nodeRedis(client);
    await Promise.all(
      Array.from({ length: 6 }, async (_, i) => {
        const limiter = new RateLimiter({ name: `${i} ${version}`, limit, redis });
        const granted = await Promise.all([1, 2, 3, 4].map(() => limiter.tryAcquire()));
        assert.equal(granted, [true, true, true, false]);
        await limiter.close();
      }),
    );
    await connecting;
    const name = `moved ${version}`;
    const limiter = new RateLimiter({ name, limit, redis });
    await limiter.acquire();
    await cluster.moveSlot(await cluster.slotOf(`{sluice:${name}}`));
    assert.is(await limiter.availablePermits(), 2);
    const move = await cluster.openSlot(await cluster.slotOf(`{sluice:${name}}`));
    const acquired = limiter.acquire();
    await move.moveKeys();
    await move.finish();
    assert.is((await acquired).source, 'redis');
    assert.is(await limiter.availablePermits(), 1);
    await limiter.close();
    assert.throws(() => new RedissonRateLimiter(redis, 'a}b'), /^name: expected no lone brace on a cluster/);
    const redisson = new RedissonRateLimiter(redis, name);
    await redisson.trySetRate(RateType.OVERALL, 3, 60_000);
    assert.ok(await redisson.tryAcquire(2));
    assert.is(await redisson.availablePermits(), 1);
    assert.ok(await redisson.delete());
    await redisson.close();
    client.destroy();
    await cluster.settled();
  }
  await cluster.stop();
});

test.run();
