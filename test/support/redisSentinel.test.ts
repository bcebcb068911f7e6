import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type RedisSentinel, startSentinels } from './redisSentinel.ts';

let trio: RedisSentinel;
let redis: Redis;
test.before(async () => {
  trio = await startSentinels();
  redis = new Redis({ sentinels: trio.addresses, name: trio.name });
  redis.on('error', () => {});
});
test.after(async () => {
  redis.disconnect();
  await trio.stop();
});

test('the sentinels promote the replica of a master that was killed', async () => {
  await redis.set('kept', 'yes');
  await redis.wait(1, 5_000);
  const old = await trio.master();
  await old.kill();
  const master = await trio.masterAfter(old);
  assert.is.not(master, old);
  assert.is(await redis.get('kept'), 'yes');
  assert.is(await redis.set('written', 'after'), 'OK');
  assert.is(await master.command('GET', 'written'), 'after');
});

test('an old master that comes back is the replica, and is promoted when asked for', async () => {
  const old = await trio.master();
  const [back] = trio.nodes.filter((node) => node !== old);
  await back.restart();
  await trio.settled();
  assert.is(await trio.failover(), back);
  assert.is(await back.command('GET', 'written'), 'after');
});

test.run();
