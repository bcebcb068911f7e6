import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RedisProxy, startProxy } from './proxy.ts';
import { type RedisServer, startRedis } from './redisServer.ts';

const test = suite<{ server: RedisServer; proxy: RedisProxy; redis: Redis }>('proxy');
test.before(async (context) => {
  context.server = await startRedis();
});
test.before.each(async (context) => {
  await context.server.command('FLUSHALL');
  context.proxy = await startProxy(context.server.port);
  context.redis = new Redis(context.proxy.port, { retryStrategy: () => 10 });
  context.redis.on('error', () => {});
  await context.redis.ping();
});
test.after.each(async ({ redis, proxy }) => {
  redis.disconnect();
  await proxy.close();
});
test.after(({ server }) => server.stop());

test('replies pass', async ({ redis, proxy }) => {
  const long = 'x'.repeat(1_000_000);
  await redis.set('long', long);
  assert.is(await redis.get('long'), long);
  assert.is(proxy.connections, 1);
  assert.is(proxy.cuts, 0);
});

test('a reply that is cut off makes ioredis send an INCR again, which has already run', async (context) => {
  const { redis, proxy } = context;
  proxy.cutReplies();
  assert.is(await redis.incr('counter'), 2);
  assert.is(proxy.cuts, 1);
  assert.is(proxy.connections, 2);
});

test('several cuts in a row hit the same request again and again', async ({ redis, proxy }) => {
  proxy.cutReplies(3);
  assert.is(await redis.incr('counter'), 4);
  assert.is(proxy.connections, 4);
});

test('only requests that match are cut, and what was sent after one does not arrive', async (context) => {
  const { redis, proxy } = context;
  proxy.cutReplies(1, (name) => name === 'INCRBY');
  const replies = await Promise.all([redis.incr('a'), redis.incrby('b', 10), redis.incr('c')]);
  assert.is(replies[1], 20);
  assert.is(replies[2], 1);
  assert.is(proxy.cuts, 1);
});

test('nothing passes a proxy that is paused, and all of it when it is resumed', async (context) => {
  const { redis, proxy, server } = context;
  proxy.pause();
  const reply = redis.incr('paused');
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.is(await server.command('GET', 'paused'), null);
  proxy.resume();
  assert.is(await reply, 1);
  assert.is(proxy.connections, 1);
});

test.run();
