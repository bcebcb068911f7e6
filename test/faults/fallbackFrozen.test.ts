import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError, fixedWindow, type RateLimiter, slidingWindow } from '../../src/index.ts';
import { lostTime } from '../support/lostTime.ts';
import { until } from '../support/until.ts';
import { fallbackSuite } from './fallbackSuite.ts';
import { Requests } from './requests.ts';

const test = fallbackSuite('fallback: Redis frozen');

// No window ends during a test, so a missing refund shows.
const limit = fixedWindow({ permits: 100, interval: 86_400_000 });

test('refunds a reserve that ran late, so that nothing stays charged in Redis', async ({
  server,
  open,
  available,
}) => {
  await server.start();
  const limiter = open(limit, { timeout: 200, cooldown: 100 });
  await until('Redis answers in time', async () => (await limiter.availablePermits()) === 100);
  server.freeze();
  const permits = await Promise.all([limiter.acquire(10), limiter.acquire(5)]);
  assert.equal(
    permits.map(({ source }) => source),
    ['fallback', 'fallback'],
  );
  server.thaw();
  // It has run: its reply was refunded before this one.
  await until('all is back', async () => (await available(limit)) === 100);
  const charged = Number(/calls=(\d+)/.exec(await statistics(server))?.[1]);
  assert.ok(charged > 0);
});

test('does not refund a decision that ran late, since a release could take permits granted to others', async ({
  server,
  open,
  available,
}) => {
  await server.start();
  const limiter = await served(() => open(limit, { timeout: 500, cooldown: 60_000 }));
  server.freeze();
  const { granted, remaining } = await limiter.decide(30);
  assert.equal([granted, remaining], [true, 20]);
  server.thaw();
  await until('the decision has run', async () => (await available(limit)) === 70);
});

test('returns to Redis after the thaw, and serves waiting requests in order', async ({ server, open }) => {
  await server.start();
  const [permits, interval] = [20, 100];
  const limiter = open(slidingWindow({ permits, interval }), { timeout: 150, cooldown: 150 });
  const requests = new Requests(limiter);
  requests.askMany(400);
  const grants = (source: string) => requests.permits.filter((permit) => permit.source === source).length;
  await until('Redis grants', async () => grants('redis') > 40, { every: 5 });
  server.freeze();
  const before = grants('fallback');
  await until('this process grants', async () => grants('fallback') > before + 20, { every: 5 });
  server.thaw();
  await requests.allEnded(30_000);
  assert.equal(
    requests.endings.map(({ index }) => index),
    Array.from({ length: 400 }, (_, i) => i),
  );
  await until('Redis serves', async () => (await limiter.acquire()).source === 'redis');
});

test('keeps timeouts while Redis is frozen and while it returns', async ({ server, open }) => {
  await server.start();
  const limiter = open(slidingWindow({ permits: 2, interval: 600 }), { timeout: 200, cooldown: 300 });
  const requests = new Requests(limiter);
  await limiter.acquire();
  server.freeze();
  const lost = lostTime();
  const timeouts = [100, 250, 700, 1_000, 1_500, 2_000];
  const all = timeouts.map((timeout) => requests.ask(1, { timeout }));
  await sleep(800);
  server.thaw();
  const endings = await Promise.all(all);
  const busy = lost();
  for (const [i, { error, permit, lasted }] of endings.entries()) {
    assert.ok(lasted < timeouts[i] + 250 + busy, `it took ${lasted} ms of ${timeouts[i]}`);
    if (!permit) assert.instance(error, AcquireTimeoutError);
  }
  assert.ok(endings.some(({ permit }) => permit));
});

test('grants a slow request locally, and does not call Redis until the cooldown is over', async ({
  server,
  open,
}) => {
  await server.start();
  const limiter = await served(() => open(limit, { timeout: 500, cooldown: 60_000 }));
  server.freeze();
  const since = performance.now();
  assert.is((await limiter.acquire()).source, 'fallback');
  const lasted = performance.now() - since;
  assert.ok(lasted >= 499, `it took ${lasted} ms`);
  // The frozen server answers nothing: a call of Redis would not end.
  assert.is((await limiter.acquire()).source, 'fallback');
  assert.ok(await limiter.tryAcquire());
});

/** A limiter that Redis answers: on a busy machine, a call may exceed its timeout. */
async function served(open: () => RateLimiter): Promise<RateLimiter> {
  return until('Redis answers in time', async () => {
    const limiter = open();
    return (await limiter.availablePermits()) === 100 && limiter;
  });
}

async function statistics(server: { command(...args: [string, ...string[]]): Promise<unknown> }) {
  return String(await server.command('INFO', 'commandstats'))
    .split('\n')
    .filter((line) => line.startsWith('cmdstat_eval'))
    .join();
}

test.run();
