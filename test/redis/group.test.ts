import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateLimiter, RateLimiterGroup, slidingWindow, tokenBucket } from '../../src/index.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('groups');
const limit = slidingWindow({ permits: 5, interval: 60_000, resolution: 1 });
const slotOf: (key: Buffer) => number = createRequire(import.meta.url)('cluster-key-slot');

const odd = [
  'a',
  'b',
  'a:b',
  'b:c',
  ':',
  '',
  '%',
  '%:',
  '%3a',
  '}',
  '{',
  '{a}',
  '\r\n',
  '🚰',
  '\ud83d',
  '__proto__',
];

test('two groups of one name share each key over two connections', async ({ redis, connect }) => {
  const [one, other] = [redis, connect()].map((redis) => new RateLimiterGroup({ name: 'api', limit, redis }));
  await one.get('a').acquire(3);
  assert.not(await other.get('a').tryAcquire(3));
  assert.ok(await other.get('a').tryAcquire(2));
  assert.is(await one.get('a').availablePermits(), 0);
  assert.is(await one.get('b').availablePermits(), 5);
  await Promise.all([one.close(), other.close()]);
});

test('keys and names may contain anything, and share nothing', async ({ redis }) => {
  const limiters = odd.flatMap((name) => [
    ...(name === '' ? [] : [new RateLimiter({ name, limit, redis })]),
    new RateLimiterGroup({ name: 'a', limit, redis }).get(name),
    new RateLimiterGroup({ name: `b${name}`, limit, redis }).get('b'),
    new RateLimiterGroup({ name: 'c', limit, redis, prefix: name }).get('b'),
  ]);
  for (const [i, limiter] of limiters.entries()) assert.ok(await limiter.tryAcquire((i % 5) + 1));
  for (const [i, limiter] of limiters.entries()) assert.is(await limiter.availablePermits(), 4 - (i % 5));
});

test('each key has one slot, many keys have many, and all expire', async ({ redis }) => {
  const group = new RateLimiterGroup({ name: 'api', limit: { calls: limit, units: limit }, redis });
  const names = Array.from({ length: 20 }, (_, i) => `key}${i}`);
  for (const name of names) {
    const limiter = group.get(name);
    const permit = await limiter.acquire({ calls: 2, units: 5 });
    const waits = limiter.acquire({ units: 1 });
    waits.catch(() => {});
    await permit.refund({ calls: 1 });
  }
  const keys = await redis.keys('*');
  const slots = new Map(names.map((name) => [name, new Set<number>()]));
  for (const key of keys) {
    const tag = /^\{sluice:api%:(key%7d\d+)\}/.exec(key);
    assert.ok(tag, key);
    slots.get(tag[1].replace('%7d', '}'))!.add(slotOf(Buffer.from(key)));
    assert.ok((await redis.pttl(key)) > 0, key);
  }
  assert.ok(keys.length > 2 * names.length);
  for (const [name, used] of slots) assert.is(used.size, 1, name);
  assert.ok(new Set([...slots.values()].flatMap((used) => [...used])).size > 15);
  await group.close();
});

/** The number of writes of a connection during `work`. */
async function writesDuring({ stream }: Redis, work: () => Promise<unknown>): Promise<number> {
  const { _write, _writev } = stream;
  let writes = 0;
  stream._write = function (...args) {
    writes++;
    _write.apply(this, args);
  };
  stream._writev = function (...args) {
    writes++;
    _writev!.apply(this, args);
  };
  try {
    await work();
  } finally {
    Object.assign(stream, { _write, _writev });
  }
  return writes;
}

const hardly = tokenBucket({ permits: 1_000_000, interval: 1_000 });

const writes = aboutIoredis(test, 'counts the writes of its socket');

for (const keys of [1, 40])
  writes(`${keys} calls of one turn are sent in one write`, async ({ redis }) => {
    const group = new RateLimiterGroup({ name: 'api', limit: hardly, redis });
    await group.get('first').acquire();
    const all = () => Promise.all(Array.from({ length: keys }, (_, i) => group.get(`key ${i}`).acquire()));
    assert.is(await writesDuring(redis, all), 1);
    // The calls that follow the replies are sent in few writes, too, even after the server has lost its scripts.
    await redis.script('FLUSH');
    await all();
  });

writes(
  'calls for a thousand keys in one turn are sent in few writes, each as large as Redis reads at once',
  async ({ redis }) => {
    const group = new RateLimiterGroup({ name: 'api', limit: hardly, redis });
    await group.get('first').acquire();
    const all = () => Promise.all(Array.from({ length: 1_000 }, (_, i) => group.get(`key ${i}`).acquire()));
    const count = await writesDuring(redis, all);
    assert.ok(count > 1 && count < 40, `${count} writes`);
  },
);

test("the caller's own commands keep their order among the calls", async ({ redis }) => {
  const group = new RateLimiterGroup({ name: 'api', limit, redis });
  const [, , value] = await Promise.all([group.get('a').acquire(), redis.set('own', '1'), redis.get('own')]);
  assert.is(value, '1');
});

test.run();
