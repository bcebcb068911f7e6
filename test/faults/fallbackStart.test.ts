import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { StoreUnavailableError, slidingWindow } from '../../src/index.ts';
import { withOptions } from '../support/anyClient.ts';
import { until } from '../support/until.ts';
import { fallbackSuite } from './fallbackSuite.ts';
import { Requests } from './requests.ts';

const test = fallbackSuite('fallback: Redis at the start');
const limit = slidingWindow({ permits: 10, interval: 60_000 });

test('grants the local part without Redis from the start, and the rest when Redis becomes available', async ({
  server,
  open,
}) => {
  const limiter = open(limit, { cooldown: 100 });
  const requests = new Requests(limiter);
  requests.askMany(8);
  await until('this process grants', async () => requests.permits.length === 5);
  await sleep(50);
  assert.is(requests.permits.length, 5);
  await server.start();
  await requests.allEnded();
  assert.equal(
    requests.endings.map(({ index, permit }) => [index, permit?.source]),
    Array.from({ length: 8 }, (_, i) => [i, i < 5 ? 'fallback' : 'redis']),
  );
});

const lazy = { lazyConnect: true };

for (const options of [{}, lazy])
  withOptions(test, options)(
    `waits for the connection to Redis while it is being established: ${JSON.stringify(options)}`,
    async ({ server, open }) => {
      await server.start();
      const limiter = open(limit, { timeout: 5_000 }, options);
      assert.is((await limiter.acquire()).source, 'redis');
      assert.is((await limiter.acquire()).source, 'redis');
    },
  );

withOptions(test, lazy)(
  'falls back with a lazy connection to an absent Redis, and throws nothing',
  async ({ open }) => {
    const limiter = open(limit, { timeout: 5_000 }, { ...lazy, retryStrategy: null as never });
    assert.is((await limiter.acquire()).source, 'fallback');
    assert.is(await limiter.availablePermits(), 4);
  },
);

test('leaves nothing in the queue of ioredis to run on connection', async ({ server, open, available }) => {
  const limiter = open(limit, { cooldown: 60_000 });
  for (let i = 0; i < 3; i++) assert.is((await limiter.acquire()).source, 'fallback');
  assert.is((await limiter.decide()).remaining, 1);
  await server.start();
  assert.is(await available(limit), 10);
  await sleep(200);
  assert.is(await available(limit), 10);
});

test('reject: fails every call at once with the reason until Redis is available', async ({
  server,
  open,
}) => {
  const limiter = open(limit, { mode: 'reject', cooldown: 100 });
  for (const call of [
    () => limiter.acquire(),
    () => limiter.tryAcquire(),
    () => limiter.decide(),
    () => limiter.availablePermits(),
  ]) {
    const since = performance.now();
    const error = await call().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.instance(error, StoreUnavailableError);
    assert.match((error as Error).message, /ECONNREFUSED|Connection refused/);
    assert.ok(performance.now() - since < 1_000);
  }
  await server.start();
  const permit = await until('Redis serves', () => limiter.acquire());
  assert.is(permit.source, 'redis');
});

test('allow: grants everything at once, and charges nothing', async ({ server, open, available }) => {
  const limiter = open(limit, { mode: 'allow', cooldown: 100 });
  const permits = await Promise.all(Array.from({ length: 50 }, () => limiter.acquire()));
  assert.ok(permits.every(({ source }) => source === 'fallback'));
  await server.start();
  assert.is(await available(limit), 10);
  await until('Redis serves', async () => (await limiter.acquire()).source === 'redis');
});

test('leaves no timer or listener when closed while waiting for a connection', async ({ connect, open }) => {
  const limiter = open(limit, 'local');
  assert.is((await limiter.acquire()).source, 'fallback');
  await limiter.close();
  const redis = connect();
  assert.equal(redis.listenerCount('ready'), 0);
});

test.run();
