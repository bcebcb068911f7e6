import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RedisSentinel, startSentinels } from './redisSentinel.ts';

const test = suite<{ trio: RedisSentinel; redis: Redis }>('sentinel');
// New ones each time: after a failover the sentinels take ten seconds to make the old master a replica.
test.before.each(async (context) => {
  context.trio = await startSentinels();
  context.redis = new Redis({ sentinels: context.trio.addresses, name: context.trio.name });
  context.redis.on('error', () => {});
  await context.redis.set('kept', 'yes');
  await context.redis.wait(1, 5_000);
});
test.after.each(async ({ redis, trio }) => {
  redis.disconnect();
  await trio.stop();
});

test('the sentinels promote the replica on request', async ({ trio }) => {
  const old = await trio.master();
  const master = await trio.failover();
  assert.is.not(master, old);
  assert.is(await master.command('GET', 'kept'), 'yes');
});

test('the sentinels promote the replica of a killed master', async ({ trio, redis }) => {
  const old = await trio.master();
  await old.kill();
  const master = await trio.masterAfter(old);
  assert.is.not(master, old);
  assert.is(await redis.get('kept'), 'yes');
  assert.is(await redis.set('written', 'after'), 'OK');
  assert.is(await master.command('GET', 'written'), 'after');
});

test.run();
