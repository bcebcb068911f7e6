import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { StoreUnavailableError, slidingWindow } from '../../src/index.ts';
import { until } from '../support/until.ts';
import { fallbackSuite } from './fallbackSuite.ts';
import { Requests } from './requests.ts';

const test = fallbackSuite('fallback: Redis at the start');
const limit = slidingWindow({ permits: 10, interval: 60_000 });

test('a Redis that was never there: this process grants its part, and Redis the rest when it comes', async ({
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

test('a Redis that is there is waited for while it is connected to', async ({ server, open }) => {
  await server.start();
  for (const options of [{}, { lazyConnect: true }]) {
    const limiter = open(limit, { timeout: 5_000 }, options);
    assert.is((await limiter.acquire()).source, 'redis');
    assert.is((await limiter.acquire()).source, 'redis');
  }
});

test('a lazy connection to a Redis that is not there falls back, and nothing is thrown', async ({ open }) => {
  const limiter = open(limit, { timeout: 5_000 }, { lazyConnect: true, retryStrategy: null as never });
  assert.is((await limiter.acquire()).source, 'fallback');
  assert.is(await limiter.availablePermits(), 4);
});

test('nothing is left in the queue of ioredis, to run when it connects', async ({
  server,
  open,
  available,
}) => {
  const limiter = open(limit, { cooldown: 60_000 });
  for (let i = 0; i < 3; i++) assert.is((await limiter.acquire()).source, 'fallback');
  assert.is((await limiter.decide()).remaining, 1);
  await server.start();
  assert.is(await available(limit), 10);
  await sleep(200);
  assert.is(await available(limit), 10);
});

test('reject: every call says at once that Redis cannot be reached, and why, until it can', async ({
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
    assert.match((error as Error).message, 'ECONNREFUSED');
    assert.ok(performance.now() - since < 1_000);
  }
  await server.start();
  const permit = await until('Redis serves', () => limiter.acquire());
  assert.is(permit.source, 'redis');
});

test('allow: everything is granted at once, and charged to nobody', async ({ server, open, available }) => {
  const limiter = open(limit, { mode: 'allow', cooldown: 100 });
  const permits = await Promise.all(Array.from({ length: 50 }, () => limiter.acquire()));
  assert.ok(permits.every(({ source }) => source === 'fallback'));
  await server.start();
  assert.is(await available(limit), 10);
  await until('Redis serves', async () => (await limiter.acquire()).source === 'redis');
});

test('closed while it waits for a connection, a limiter leaves no timer or listener', async ({
  connect,
  open,
}) => {
  const limiter = open(limit, 'local');
  assert.is((await limiter.acquire()).source, 'fallback');
  await limiter.close();
  const redis = connect();
  assert.equal(redis.listenerCount('ready'), 0);
});

test.run();
