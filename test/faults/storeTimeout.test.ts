import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  fixedWindow,
  RateLimiter,
  RateLimiterGroup,
  RateType,
  RedissonRateLimiter,
  StoreUnavailableError,
} from '../../src/index.ts';
import { withOptions } from '../support/anyClient.ts';
import { freePort } from '../support/ports.ts';
import { type RedisProxy, startProxy } from '../support/proxy.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';
import { Requests } from './requests.ts';

interface Context {
  server: RedisServer;
  proxy: RedisProxy;
  /** A connection through the proxy on which ioredis never gives up. */
  redis: Redis;
  limiter: RateLimiter;
  /** A limiter of the same limit without a timeout for its calls. */
  witness: RateLimiter;
}

const storeTimeout = 300;
// No window ends during a test, so a missing refund shows.
const limit = fixedWindow({ permits: 100, interval: 86_400_000 });
const patient = { maxRetriesPerRequest: null, retryStrategy: () => 50 };

const test = suite<Context>('storeTimeout');
test.before(async (context) => {
  context.server = await startRedis();
  context.proxy = await startProxy(context.server.port);
});
test.before.each(async (context) => {
  const { server, proxy } = context;
  await server.command('FLUSHALL');
  context.redis = new Redis(proxy.port, patient);
  context.redis.on('error', () => {});
  const { redis } = context;
  context.limiter = new RateLimiter({ name: 'bounded', limit, redis, storeTimeout });
  context.witness = new RateLimiter({ name: 'bounded', limit, redis, storeTimeout: Infinity });
  await context.witness.availablePermits();
});
test.after.each(({ server, proxy, redis }) => {
  server.thaw();
  proxy.resume();
  redis.disconnect();
});
test.after(async ({ proxy, server }) => {
  await proxy.close();
  await server.stop();
});

/** Asserts that a call fails for lack of a reply, and not before its timeout. */
async function assertUnavailable(what: string, call: () => Promise<unknown>): Promise<void> {
  const since = performance.now();
  const error = await call().then(
    (value) => value,
    (reason: unknown) => reason,
  );
  const lasted = performance.now() - since;
  assert.instance(error, StoreUnavailableError, `${what}: ${error}`);
  assert.ok(lasted >= storeTimeout - 1, `${what} failed after ${lasted} ms`);
}

/** How Redis stops answering on an open connection, and how that ends. */
const silences: Record<string, [begin: (on: Context) => void, end: (on: Context) => void]> = {
  'a frozen server': [({ server }) => server.freeze(), ({ server }) => server.thaw()],
  'a link that carries nothing': [({ proxy }) => proxy.pause(), ({ proxy }) => proxy.resume()],
};

for (const [title, [begin, end]] of Object.entries(silences)) {
  test(`${title}: every call fails with StoreUnavailableError at storeTimeout`, async (context) => {
    const { limiter } = context;
    // On a busy machine, a reply may take longer than that even while nothing is silent.
    const permit = await until('a permit', () => limiter.acquire(20));
    begin(context);
    const calls: Record<string, () => Promise<unknown>> = {
      acquire: () => limiter.acquire(),
      tryAcquire: () => limiter.tryAcquire(),
      decide: () => limiter.decide(),
      availablePermits: () => limiter.availablePermits(),
      release: () => limiter.release(1),
      getRate: () => limiter.getRate(),
      trySetRate: () => limiter.trySetRate(limit),
      pauseFor: () => limiter.pauseFor(1),
      reset: () => limiter.reset(),
    };
    await Promise.all(Object.entries(calls).map(([name, call]) => assertUnavailable(name, call)));
    // A refund does not report its result.
    await permit.refund();
    end(context);
    assert.is(typeof (await until('a reply', () => limiter.availablePermits())), 'number');
    await limiter.close();
  });

  test(`${title}: refunds the reservations of late calls`, async (context) => {
    const { limiter, witness } = context;
    begin(context);
    await Promise.all([
      assertUnavailable('acquire', () => limiter.acquire(10)),
      assertUnavailable('tryAcquire', () => limiter.tryAcquire(5)),
    ]);
    await assertUnavailable('the next call', () => limiter.acquire(7));
    end(context);
    // Behind the late calls on the connection, so that they have been carried out. The request for 5 was in none of them.
    assert.is(await witness.availablePermits(), 83);
    await until('all permits are back', async () => (await witness.availablePermits()) === 100);
    await limiter.close();
  });

  test(`${title}: a late decision stays charged`, async (context) => {
    const { limiter, witness } = context;
    begin(context);
    await assertUnavailable('decide', () => limiter.decide(30));
    end(context);
    assert.is(await witness.availablePermits(), 70);
    await limiter.close();
    assert.is(await witness.availablePermits(), 70);
  });
}

test('moves a request from an unanswered call into the next one, in order', async (context) => {
  const { server, limiter } = context;
  const requests = new Requests(limiter);
  server.freeze();
  const first = requests.ask();
  await until('the call is under way', async () => limiter.stats().calls === 1, { every: 1 });
  const behind = [requests.ask(), requests.ask()];
  assert.instance((await first).error, StoreUnavailableError);
  server.thaw();
  await Promise.all(behind);
  assert.equal(
    requests.endings.map(({ index, permit }) => permit && index),
    [undefined, 1, 2],
  );
  await until('the late grant is back', async () => (await limiter.availablePermits()) === 98);
  await limiter.close();
});

test('one unanswered call fails all requests that wait', async ({ server, limiter }) => {
  server.freeze();
  const errors = await Promise.all(
    Array.from({ length: 1000 }, () => limiter.acquire().catch((error: unknown) => error)),
  );
  for (const error of errors) assert.instance(error, StoreUnavailableError);
  assert.is(limiter.stats().calls, 1);
  server.thaw();
  await limiter.close();
});

test('applies to a limiter of a group', async (context) => {
  const { server, redis } = context;
  const group = new RateLimiterGroup({ name: 'bounded', limit, redis, storeTimeout });
  server.freeze();
  const limiters = ['a', 'b'].map((key) => group.get(key));
  await Promise.all(limiters.map((limiter) => assertUnavailable('decide', () => limiter.decide())));
  await assertUnavailable('acquire', () => limiters[0].acquire(10));
  server.thaw();
  await until('the late grant is back', async () => (await limiters[0].availablePermits()) === 99);
  await group.close();
});

test('RedissonRateLimiter: applies to every call, and refunds a late grant', async (context) => {
  const { server, redis } = context;
  const limiter = new RedissonRateLimiter(redis, 'bounded', { storeTimeout });
  await until('a reply', () => limiter.trySetRate(RateType.OVERALL, 10, 86_400_000));
  server.freeze();
  const calls: Record<string, () => Promise<unknown>> = {
    acquire: () => limiter.acquire(3),
    availablePermits: () => limiter.availablePermits(),
    getConfig: () => limiter.getConfig(),
    trySetRate: () => limiter.trySetRate(RateType.OVERALL, 10, 86_400_000),
    isExists: () => limiter.isExists(),
  };
  await Promise.all(Object.entries(calls).map(([name, call]) => assertUnavailable(name, call)));
  await assertUnavailable('tryAcquire', () => limiter.tryAcquire(2));
  server.thaw();
  await until('the late grants are back', async () => (await limiter.availablePermits()) === 10);
  await limiter.close();
});

withOptions(test, { enableOfflineQueue: true })(
  'reports why the connection cannot be opened when the server never starts',
  async () => {
    const redis = new Redis(await freePort(), patient);
    redis.on('error', () => {});
    const limiter = new RateLimiter({ name: 'bounded', limit, redis, storeTimeout });
    try {
      await assertUnavailable('tryAcquire', () => limiter.tryAcquire());
      const error = await limiter.decide().catch((reason: Error) => reason);
      assert.match((error as Error).message, /ECONNREFUSED/);
    } finally {
      redis.disconnect();
      await limiter.close();
    }
  },
);

test.run();
