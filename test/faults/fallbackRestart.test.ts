import { setTimeout as sleep } from 'node:timers/promises';
import { lastValueFrom, range } from 'rxjs';
import { takeWhile, tap, toArray } from 'rxjs/operators';
import * as assert from 'uvu/assert';
import { type Permit, slidingWindow, throttleDistributed } from '../../src/index.ts';
import { until } from '../support/until.ts';
import { fallbackSuite } from './fallbackSuite.ts';

const test = fallbackSuite('fallback: Redis killed and restarted');

test('moves a stream from Redis to local and back, in order and without loss', async ({ server, open }) => {
  await server.start();
  const limiter = open(slidingWindow({ permits: 20, interval: 100 }), { cooldown: 200 });
  const sources: string[] = [];
  const changes: string[] = [];
  limiter.events$.subscribe(({ type }) => {
    if (type === 'fallback' || type === 'recovered') changes.push(type);
  });
  const stream = range(0, 10_000).pipe(
    throttleDistributed(limiter, { project: (value: number, { source }: Permit) => ({ value, source }) }),
    tap(({ source }) => sources.push(source)),
    takeWhile(({ source }) => changes.length < 2 || source !== 'redis', true),
    toArray(),
  );
  const all = lastValueFrom(stream);
  await until('Redis grants', async () => sources.length > 60);
  const before = sources.length;
  await server.kill();
  // Reservations in Redis stay in force while it is unavailable, so that the two overlap there.
  await until(
    'this process grants',
    async () => sources.filter((source) => source === 'fallback').length >= 60,
  );
  await server.start();
  const values = await all;
  assert.equal(
    values.map(({ value }) => value),
    Array.from({ length: values.length }, (_, i) => i),
  );
  assert.equal(changes, ['fallback', 'recovered']);
  assert.equal(new Set(sources.slice(0, before)), new Set(['redis']));
});

test('grants a request in flight locally at once when Redis is killed', async ({ server, open }) => {
  await server.start();
  // Only the lost connection shows it.
  const limiter = open(slidingWindow({ permits: 20, interval: 100 }), { timeout: Infinity });
  assert.is((await limiter.acquire()).source, 'redis');
  server.freeze();
  const permit = limiter.acquire();
  await sleep(50);
  await server.kill();
  assert.is((await permit).source, 'fallback');
});

test('delays requests larger than the local part until Redis returns, and later ones behind them', async ({
  server,
  open,
}) => {
  await server.start();
  // GLIDE reports no loss of the connection: the timeout ends the call.
  const limiter = open(slidingWindow({ permits: 10, interval: 100 }), { timeout: 200, cooldown: 100 });
  await limiter.acquire();
  await server.kill();
  const order: string[] = [];
  const sourceOf = async (permits: number) => {
    const { source } = await limiter.acquire(permits);
    order.push(`${permits} ${source}`);
  };
  const all = [sourceOf(5), sourceOf(6), sourceOf(1)];
  await sleep(500);
  assert.equal(order, ['5 fallback']);
  await server.start();
  await Promise.all(all);
  assert.equal(order, ['5 fallback', '6 redis', '1 redis']);
});

test('refunds to Redis on its return what was refunded while it was unavailable', async ({
  server,
  open,
  available,
}) => {
  await server.start();
  const limit = slidingWindow({ permits: 100, interval: 86_400_000 });
  const limiter = open(limit, { timeout: 200, cooldown: 100 });
  const permit = await limiter.acquire(30);
  server.freeze();
  const here = await limiter.acquire(40);
  assert.is(here.source, 'fallback');
  await Promise.all([permit.refund(), here.refund()]);
  server.thaw();
  await until('all is back', async () => (await available(limit)) === 100);
});

test.run();
