import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateLimiter, StoreError, slidingWindow, tokenBucket } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { until } from '../support/until.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('control');
const limit = slidingWindow({ permits: 5, interval: 60_000, resolution: 1 });
const ledger = '{sluice:api}';
const control = '{sluice:api}:control';
const open = (redis: Redis) => new RateLimiter({ name: 'api', limit, redis });

/** The values of the ledger's and the control's keys. */
const dumps = (redis: Redis) =>
  Promise.all([ledger, control].map(async (key) => (await redis.dumpBuffer(key))?.toString('hex')));

const calls: Record<string, (limiter: RateLimiter) => Promise<unknown>> = {
  acquire: (limiter) => limiter.acquire(),
  tryAcquire: (limiter) => limiter.tryAcquire(),
  decide: (limiter) => limiter.decide(),
  availablePermits: (limiter) => limiter.availablePermits(),
  release: (limiter) => limiter.release(1),
  trySetRate: (limiter) => limiter.trySetRate(limit),
  setRate: (limiter) => limiter.setRate(limit),
  getRate: (limiter) => limiter.getRate(),
  pauseFor: (limiter) => limiter.pauseFor(1000),
  reset: (limiter) => limiter.reset(),
};

/** The calls that may take the fast path. */
const fast = ['acquire', 'tryAcquire', 'decide'];

const others: [string, (redis: Redis) => Promise<unknown>, RegExp][] = [
  ['a list', (redis) => redis.lpush(control, 'x'), /another type; delete\(\) deletes it/],
  ['a hash', (redis) => redis.hset(control, 'a', 1), /another type; delete\(\) deletes it/],
  ['garbage', (redis) => redis.set(control, 'x'), /control/],
  ['a long text', (redis) => redis.set(control, Buffer.alloc(1000)), /control/],
];

for (const [title, put, what] of others)
  for (const [method, call] of Object.entries(calls))
    test(`${method} says that the control's key holds ${title}, and changes nothing`, async ({ redis }) => {
      // With a ledger, the fast path does not read the control.
      if (!fast.includes(method)) await open(redis).acquire(2);
      await put(redis);
      const before = await dumps(redis);
      const error = (await rejection(call(open(redis)))) as StoreError;
      assert.instance(error, StoreError);
      assert.match(error.message, '"api"');
      assert.match(error.message, 'the key {sluice:api}:control holds no control of version 2');
      assert.match((error.cause as Error).message, what);
      const after = await dumps(redis);
      assert.equal(after, before);
    });

for (const [title, put] of others)
  test(`delete removes a control that holds ${title}, and each call succeeds again`, async ({ redis }) => {
    await open(redis).acquire(2);
    await put(redis);
    await open(redis).delete();
    assert.equal(await redis.keys('*'), []);
    for (const call of Object.values(calls)) await call(open(redis));
  });

test('delete keeps a control that it may not read', async ({ redis, server, connect }) => {
  await open(redis).setRate(limit);
  const before = await dumps(redis);
  await server.command('ACL', 'SETUSER', 'blind', 'reset', 'on', '>secret', '+@all', '-getrange', '~*');
  const error = await rejection(open(connect({ username: 'blind', password: 'secret' })).delete());
  assert.instance(error, StoreError);
  assert.equal(await dumps(redis), before);
});

test('a stored rate stays, and a pause expires without removing it', async ({ redis }) => {
  const limiter = open(redis);
  await limiter.pauseFor(5_000);
  const left = await redis.pttl(control);
  assert.ok(left > 1 && left <= 5_001, `${left} ms`);
  await limiter.setRate(limit);
  assert.is(await redis.pttl(control), -1);
  await limiter.pauseFor(10);
  assert.is(await redis.pttl(control), -1);
  await limiter.reset();
  assert.is(await redis.pttl(control), -1);
  assert.is((await limiter.getRate()).stored, true);
  // Other clients receive the end of the pause.
  await limiter.delete();
  const ttl = await redis.pttl(control);
  assert.ok(ttl > 1 && ttl <= 5_000, `${ttl} ms`);
  await redis.del(control);
  await limiter.pauseFor(30);
  await until('the pause is forgotten', async () => (await redis.exists(control)) === 0);
});

test('the record of a lifted pause lives for as long as the pause would have lasted', async ({ redis }) => {
  const limiter = open(redis);
  await limiter.pauseFor(60_000);
  await limiter.reset();
  const left = await redis.pttl(control);
  assert.ok(left > 30_000 && left <= 60_001, `${left} ms`);
});

test('a pause changes nothing of a small ledger but the moment from which it is calm', async ({ redis }) => {
  const limiter = open(redis);
  await limiter.acquire();
  const before = await redis.getBuffer('{sluice:api}');
  await limiter.pauseFor(30);
  const after = await redis.getBuffer('{sluice:api}');
  const changed = [...after!.keys()].filter((i) => after![i] !== before![i]);
  assert.is(after!.length, before!.length);
  // Behind the letter, the version and the epoch.
  assert.ok(changed.length > 0 && changed.every((i) => i >= 9 && i < 15), `bytes ${changed}`);
});

test('delete leaves only keys of the limiter that expire soon', async ({ redis, connect }) => {
  const record = { requests: limit, tokens: tokenBucket({ permits: 100, interval: 60_000 }) };
  const limiters = [redis, connect()].map((redis) => new RateLimiter({ name: 'api', limit: record, redis }));
  for (const limiter of limiters) {
    const permit = await limiter.acquire({ requests: 2, tokens: 40 });
    await permit.refund({ tokens: 10 });
  }
  for (const limiter of limiters) limiter.acquire({ requests: 5 }).catch(() => {});
  await until('both are reserved', async () => limiters.every((limiter) => limiter.stats().reserved > 0));
  await limiters[0].setRate(record);
  await limiters[0].pauseFor(60_000);
  await Promise.all(limiters.map((limiter) => limiter.close()));
  const last = new RateLimiter({ name: 'api', limit: record, redis });
  assert.ok((await redis.keys('*')).length > 5);
  await last.delete();
  for (const key of await redis.keys('*')) {
    if (key !== control) assert.match(key, /^\{sluice:api\}:sequence:/);
    const left = await redis.pttl(key);
    assert.ok(left > 0 && left <= 300_000, `${key} lives for ${left} ms`);
  }
});

test('a stored rate with other names is refused with advice, and can be deleted', async ({
  redis,
  connect,
}) => {
  await open(redis).setRate(limit);
  const record = { requests: limit, tokens: limit };
  const pair = new RateLimiter({ name: 'api', limit: record, redis: connect() });
  const wrong = [
    () => pair.acquire(),
    () => pair.tryAcquire(),
    () => pair.decide(),
    () => pair.availablePermits(),
  ];
  for (const call of [...wrong, () => pair.getRate(), () => pair.release(1)]) {
    const error = await rejection(call());
    assert.instance(error, StoreError);
    assert.match(error.message, /"requests","tokens".*give it those, or store another rate, or delete\(\)/);
  }
  // A pause applies to all clients, whatever the names of their limits.
  await pair.pauseFor(1);
  await pair.delete();
  assert.ok(await pair.tryAcquire(5));
  assert.is((await pair.getRate()).stored, false);
});

test('a rate that replaces one with other names is in force', async ({ redis, connect }) => {
  await open(redis).setRate(limit);
  const record = { requests: limit, tokens: limit };
  const pair = new RateLimiter({ name: 'api', limit: record, redis: connect() });
  await pair.setRate(record);
  assert.ok(await pair.tryAcquire(5));
  assert.instance(await rejection(open(redis).acquire()), StoreError);
});

test.run();
