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
  // Nothing comes back by time: what is not given back is missed.
  const limit = fixedWindow({ permits: 100, interval: 86_400_000 });
  context.limiter = new RateLimiter({ name: 'frozen', limit, redis: context.redis });
  await context.limiter.availablePermits();
});
test.after.each(({ server, redis }) => {
  server.thaw();
  redis.disconnect();
});
test.after(({ server }) => server.stop());

test('frozen for a second and thawed: nothing is lost, the order is kept, and the limit too', async (context) => {
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

test('a timeout is kept while Redis is frozen, and what the late reply grants is given back', async (context) => {
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

test('cancelled while Redis is frozen, a request ends at once and its late grant is given back', async (context) => {
  const { server, limiter } = context;
  const controller = new AbortController();
  const requests = new Requests(limiter);
  server.freeze();
  const inFlight = requests.ask(10, { signal: controller.signal });
  // The call is under way: this one waits behind it.
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

test('those who wait behind a request that has run out of time get what its late reply grants', async (context) => {
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

test('a refund that is asked for while Redis is frozen is made after the thaw', async (context) => {
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

test('a limiter that is closed while Redis is frozen gives back what was on its way', async (context) => {
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

test('those whose call is under way are told when the owner of the connection gives it up', async (context) => {
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
