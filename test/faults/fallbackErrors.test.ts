import * as assert from 'uvu/assert';
import { StoreError, StoreUnavailableError, slidingWindow } from '../../src/index.ts';
import { startProxy } from '../support/proxy.ts';
import { until } from '../support/until.ts';
import { fallbackSuite } from './fallbackSuite.ts';

const test = fallbackSuite('fallback: errors of Redis');
const limit = slidingWindow({ permits: 100, interval: 86_400_000 });

test('passes on an error reply of Redis in every mode', async ({ server, open }) => {
  await server.start();
  await server.command('RPUSH', '{sluice:fallback}', 'x');
  for (const mode of ['local', 'reject', 'allow'] as const) {
    const limiter = open(limit, mode);
    for (const call of [() => limiter.acquire(), () => limiter.decide(), () => limiter.availablePermits()]) {
      const error = await call().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      assert.instance(error, StoreError);
      assert.match((error as Error).message, 'found a value of another type');
    }
  }
  await server.command('DEL', '{sluice:fallback}');
  assert.is((await open(limit, 'local').acquire()).source, 'redis');
});

test('treats a server that refuses all calls for now as unavailable', async ({ server, open }) => {
  await server.start();
  const limiter = open(limit, { cooldown: 100 });
  const rejecting = open(limit, { mode: 'reject', cooldown: 100 });
  await limiter.acquire();
  // A replica of an absent server: it answers reads, and refuses writes.
  await server.command('REPLICAOF', '127.0.0.1', 1);
  assert.is((await limiter.acquire()).source, 'fallback');
  const error = await rejecting.acquire().catch((reason: unknown) => reason);
  assert.instance(error, StoreUnavailableError);
  // GLIDE looks for another server, and finds no primary one.
  assert.match((error as Error).message, /READONLY|No primary node/);
  await server.command('REPLICAOF', 'NO', 'ONE');
  await until('Redis serves', async () => (await limiter.acquire()).source === 'redis');
});

test('repeats a call whose reply is lost with the connection, and refunds the repeat', async ({
  server,
  open,
  available,
}) => {
  await server.start();
  const proxy = await startProxy(server.port);
  try {
    const limiter = open(limit, { cooldown: 50 }, { port: proxy.port });
    assert.is((await limiter.acquire(10)).source, 'redis');
    proxy.cutReplies();
    assert.is((await limiter.acquire(20)).source, 'fallback');
    assert.is(proxy.cuts, 1);
    await until('Redis serves', async () => (await limiter.acquire(1)).source === 'redis');
    // The run whose reply was lost is unknown to the client: it stays charged. The repeated run is refunded.
    await until('it is given back', async () => (await available(limit)) === 100 - 10 - 20 - 1);
  } finally {
    await proxy.close();
  }
});

test.run();
