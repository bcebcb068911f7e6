import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  fixedWindow,
  RateLimiter,
  StoreUnavailableError,
  slidingWindow,
} from '../../src/index.ts';
import { overSliding } from '../properties/oracle.ts';
import { lostTime } from '../support/lostTime.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';
import { Requests, standing } from './requests.ts';

const test = suite<{ server: RedisServer; redis: Redis; limiter: RateLimiter }>('frozen Redis');
test.before(async (context) => {
  context.server = await startRedis();
});
test.before.each(async (context) => {
  await context.server.command('FLUSHALL');
  context.redis = new Redis(context.server.port);
  // The window does not end during the test, so a missing refund shows.
  const limit = fixedWindow({ permits: 100, interval: 86_400_000 });
  context.limiter = new RateLimiter({ name: 'frozen', limit, redis: context.redis });
  await context.limiter.availablePermits();
});
test.after.each(({ server, redis }) => {
  server.thaw();
  redis.disconnect();
});
test.after(({ server }) => server.stop());

test('loses nothing, and keeps the order and the limit, when Redis is frozen for a second', async (context) => {
  const { server, redis } = context;
  const [permits, interval] = [20, 250];
  const limit = slidingWindow({ permits, interval });
  const requests = new Requests(new RateLimiter({ name: 'thawed', limit, redis }));
  requests.askMany(100);
  await sleep(300);
  server.freeze();
  requests.askMany(20);
  const before = requests.permits.length;
  await sleep(1000);
  server.thaw();
  await requests.allEnded();

  assert.ok(before > 0 && before < 100, `${before} were granted before`);
  assert.equal(
    requests.endings.map(({ index }) => index),
    Array.from({ length: 120 }, (_, i) => i),
  );
  assert.is(requests.permits.length, 120);
  const spec = { kind: 'slidingWindow', permits, interval, resolution: 1 } as const;
  assert.is(overSliding(spec, standing(requests.permits)), undefined);
});

test('keeps a timeout while Redis is frozen, and refunds the late grant', async (context) => {
  const { server, limiter } = context;
  const requests = new Requests(limiter);
  server.freeze();
  const lost = lostTime();
  const [first, second] = await Promise.all([
    requests.ask(10, { timeout: 200 }),
    requests.ask(5, { timeout: 300 }),
  ]);
  const busy = lost();
  for (const [{ error, lasted }, timeout] of [
    [first, 200],
    [second, 300],
  ] as const) {
    assert.instance(error, AcquireTimeoutError);
    assert.ok(lasted >= timeout && lasted < timeout + 250 + busy, `it took ${lasted} ms of ${timeout}`);
  }
  server.thaw();
  await until('all permits are back', async () => (await limiter.availablePermits()) === 100);
});

test('cancels a request at once while Redis is frozen, and refunds its late grant', async (context) => {
  const { server, limiter } = context;
  const controller = new AbortController();
  const requests = new Requests(limiter);
  server.freeze();
  const inFlight = requests.ask(10, { signal: controller.signal });
  // The call is in flight: this one waits behind it.
  await sleep(50);
  const queued = requests.ask(7, { signal: controller.signal });
  const lost = lostTime();
  const since = performance.now();
  controller.abort('no longer');
  assert.equal([(await inFlight).error, (await queued).error], ['no longer', 'no longer']);
  assert.ok(performance.now() - since < 250 + lost());
  server.thaw();
  await until('all permits are back', async () => (await limiter.availablePermits()) === 100);
  assert.is(limiter.stats().calls, 1);
});

test('passes the late grant of a timed-out request to the next waiting requests', async (context) => {
  const { server, limiter } = context;
  const requests = new Requests(limiter);
  server.freeze();
  const hasty = requests.ask(10, { timeout: 100 });
  await sleep(50);
  const patient = requests.ask(10);
  assert.instance((await hasty).error, AcquireTimeoutError);
  server.thaw();
  assert.ok((await patient).permit);
  assert.is(await limiter.availablePermits(), 90);
  assert.is(limiter.stats().calls, 1);
});

test('carries out a refund made while Redis is frozen after the thaw', async (context) => {
  const { server, limiter } = context;
  const permit = await limiter.acquire(30);
  server.freeze();
  let settled = false;
  const refund = permit.refund().then(() => {
    settled = true;
  });
  await sleep(150);
  assert.not(settled);
  server.thaw();
  await refund;
  assert.is(await limiter.availablePermits(), 100);
});

test('refunds late grants of a limiter that is closed while Redis is frozen', async (context) => {
  const { server, limiter, redis } = context;
  const requests = new Requests(limiter);
  server.freeze();
  const request = requests.ask(10);
  await sleep(50);
  const closed = limiter.close();
  assert.is(((await request).error as { code: string }).code, 'ERR_SLUICE_CLOSED');
  server.thaw();
  await closed;
  const limit = fixedWindow({ permits: 100, interval: 86_400_000 });
  assert.is(await new RateLimiter({ name: 'frozen', limit, redis }).availablePermits(), 100);
});

test('fails requests whose call is in flight when the owner of the connection disconnects', async (context) => {
  const { server, limiter, redis } = context;
  const requests = new Requests(limiter);
  server.freeze();
  requests.askMany(3);
  await sleep(50);
  redis.disconnect();
  await requests.allEnded();
  assert.is(requests.errors.length, 3);
  for (const error of requests.errors) assert.instance(error, StoreUnavailableError);
});

test.run();
