import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisOptions } from 'ioredis';
import sinon from 'sinon';
import * as assert from 'uvu/assert';
import { RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { aboutIoredis, withOptions } from '../support/anyClient.ts';
import { until } from '../support/until.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('connections');
const limit = slidingWindow({ permits: 3, interval: 60_000 });

const settings: [string, RedisOptions][] = [
  ['as it comes', {}],
  ['RESP2', { protocol: 2 }],
  ['RESP3', { protocol: 3 }],
  ['strings for numbers', { stringNumbers: true }],
  ['a key prefix', { keyPrefix: 'app:' }],
  ['automatic pipelines', { enableAutoPipelining: true }],
  ['friendly error stacks', { showFriendlyErrorStack: true }],
  ['another database', { db: 3 }],
  ['a lazy start', { lazyConnect: true }],
];

for (const [title, options] of settings)
  withOptions(test, options)(`a limiter works over a connection with ${title}`, async ({ connect }) => {
    const redis = connect(options);
    const limiter = new RateLimiter({ name: 'api', limit: { a: limit, b: limit }, redis });
    const permit = await limiter.acquire({ a: 2, b: 1 });
    assert.is(permit.source, 'redis');
    const [seconds] = await redis.time();
    assert.ok(Math.abs(permit.grantedAt - Number(seconds) * 1000) < 5_000);
    assert.equal(await limiter.availablePermits({ detail: true }), { a: 1, b: 2 });
    assert.not(await limiter.tryAcquire(2));
    const { granted, remaining, retryAfter } = await limiter.decide(1);
    assert.equal({ granted, remaining }, { granted: true, remaining: 0 });
    assert.is(retryAfter, 0);
    await permit.refund();
    assert.equal(await limiter.availablePermits({ detail: true }), { a: 2, b: 2 });
    await limiter.close();
    const keys = await redis.keys('*');
    assert.ok(keys.length > 0);
    assert.ok(keys.every((key) => key.startsWith(`${options.keyPrefix ?? ''}{sluice:api}`)));
  });

aboutIoredis(test, 'looks at its object')(
  'the commands on the connection carry a hash, so that two versions can share it',
  async ({ redis }) => {
    const before = new Set(Object.keys(redis));
    const limiter = new RateLimiter({ name: 'api', limit, redis });
    const permit = await limiter.acquire();
    await Promise.all([permit.refund(), limiter.decide(), limiter.availablePermits()]);
    const names = Object.keys(redis).filter((name) => name.startsWith('sluice') && !before.has(name));
    for (const script of ['reserve', 'refund', 'decide'])
      assert.ok(
        names.some((name) => new RegExp(`^sluice_${script}_[0-9a-f]{8}_4$`).test(name)),
        script,
      );
    // Commands that another version has defined under its own hash are not called.
    for (const name of names)
      redis.defineCommand(name.replace(/[0-9a-f]{8}/, '01234567'), { lua: 'return "other"' });
    assert.ok(await limiter.tryAcquire());
  },
);

test('limiters of one connection and one name number their refunds separately', async ({ redis }) => {
  const [a, b] = [1, 2].map(() => new RateLimiter({ name: 'api', limit, redis }));
  const permits = [await a.acquire(), await a.acquire(), await b.acquire()];
  for (const permit of permits) await permit.refund();
  assert.is(await a.availablePermits(), 3);
});

test('times are those of Redis: a clock that is an hour wrong changes nothing', async ({
  redis,
  connect,
}) => {
  const ahead = new RateLimiter({ name: 'api', limit, redis });
  const truth = new RateLimiter({ name: 'api', limit, redis: connect() });
  for (const error of [3_600_000, -3_600_000]) {
    const start = Date.now();
    const fake = sinon.useFakeTimers({ now: start + error, toFake: ['Date'] });
    try {
      const { grantedAt } = await ahead.acquire();
      assert.ok(
        grantedAt >= start - 1_000 && grantedAt < start + 5_000,
        `granted ${grantedAt - start} ms away`,
      );
    } finally {
      fake.restore();
    }
  }
  assert.is(await truth.availablePermits(), 1);
  assert.ok((await truth.decide()).resetAfter <= 60_060);
  assert.not((await truth.decide()).granted);
});

test('waits are measured by a monotonic clock: a step of Date in mid-wait changes nothing', async ({
  redis,
}) => {
  const limiter = new RateLimiter({
    name: 'api',
    limit: tokenBucket({ permits: 1, interval: 200, burst: 1 }),
    redis,
  });
  await limiter.acquire();
  const start = performance.now();
  const waiting = limiter.acquire();
  const fake = sinon.useFakeTimers({ now: Date.now() + 3_600_000, toFake: ['Date'] });
  await waiting;
  fake.restore();
  const waited = performance.now() - start;
  assert.ok(waited > 150 && waited < 2_000, `waited ${waited} ms`);
});

test('after the server has lost its data, its limiters continue with an empty ledger', async ({
  redis,
  server,
}) => {
  const limiter = new RateLimiter({ name: 'api', limit, redis });
  for (let i = 0; i < 3; i++) assert.ok(await limiter.tryAcquire());
  assert.not(await limiter.tryAcquire());
  await server.restart();
  await until('the connection is open again', async () => redis.ping());
  // A refusal is remembered for a short time.
  await sleep(100);
  const again = await Promise.all([1, 2, 3, 4].map(() => limiter.tryAcquire()));
  assert.equal(again, [true, true, true, false]);
});

test.run();
