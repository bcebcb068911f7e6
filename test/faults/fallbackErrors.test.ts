import * as assert from 'uvu/assert';
import { StoreError, StoreUnavailableError, slidingWindow } from '../../src/index.ts';
import { startProxy } from '../support/proxy.ts';
import { until } from '../support/until.ts';
import { fallbackSuite } from './fallbackSuite.ts';

const test = fallbackSuite('fallback: errors of Redis');
const limit = slidingWindow({ permits: 100, interval: 86_400_000 });

test('an error that Redis answers with passes as it is, in every mode', async ({ server, open }) => {
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
      assert.match((error as Error).message, 'WRONGTYPE');
    }
  }
  await server.command('DEL', '{sluice:fallback}');
  assert.is((await open(limit, 'local').acquire()).source, 'redis');
});

test('a server that serves nobody for now is away', async ({ server, open }) => {
  await server.start();
  const limiter = open(limit, { cooldown: 100 });
  const rejecting = open(limit, { mode: 'reject', cooldown: 100 });
  await limiter.acquire();
  // A replica of nobody: it answers reads, and refuses to write.
  await server.command('REPLICAOF', '127.0.0.1', 1);
  assert.is((await limiter.acquire()).source, 'fallback');
  const error = await rejecting.acquire().catch((reason: unknown) => reason);
  assert.instance(error, StoreUnavailableError);
  assert.match((error as Error).message, 'READONLY');
  await server.command('REPLICAOF', 'NO', 'ONE');
  await until('Redis serves', async () => (await limiter.acquire()).source === 'redis');
});

test('a reply that is lost with the connection: the call runs again, and that is given back', async ({
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
    // What ran before its reply was lost nobody knows of: it is charged. What ran again is given back.
    await until('it is given back', async () => (await available(limit)) === 100 - 10 - 20 - 1);
  } finally {
    await proxy.close();
  }
});

test.run();
