import type { Socket } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import { defer, retry } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  fixedWindow,
  permits$,
  RateLimiter,
  RateType,
  RedissonRateLimiter,
  StoreUnavailableError,
} from '../../src/index.ts';
import { aboutIoredis, withOptions } from '../support/anyClient.ts';
import { type RedisProxy, startProxy } from '../support/proxy.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';

interface Context {
  server: RedisServer;
  /** The way to the server, which keeps its data while the way is closed. */
  proxy: RedisProxy;
  opened: Redis[];
  connect(options?: RedisOptions): Redis;
}

const day = 86_400_000;
// No window ends during a test.
const limit = fixedWindow({ permits: 100, interval: day });
const other = fixedWindow({ permits: 7, interval: day });

/** Calls of both kinds of limiter wait for the connection. */
const queue = { enableOfflineQueue: true };

const test = suite<Context>('calls while Redis is down');
test.before(async (context) => {
  context.server = await startRedis();
});
test.before.each(async (context) => {
  await context.server.command('FLUSHALL');
  context.proxy = await startProxy(context.server.port);
  context.opened = [];
  context.connect = (options = {}) => {
    const redis = new Redis(context.proxy.port, {
      maxRetriesPerRequest: null,
      retryStrategy: () => 20,
      ...options,
    });
    redis.on('error', () => {});
    context.opened.push(redis);
    return redis;
  };
});
test.after.each(async ({ proxy, opened }) => {
  for (const redis of opened) redis.disconnect();
  // Closed already by some tests.
  await proxy.close().catch(() => {});
});
test.after(({ server }) => server.stop());

/** Closes the way to the server, and waits until each connection knows. */
async function bringDown(proxy: RedisProxy, ...connections: Redis[]): Promise<void> {
  await proxy.close();
  await until('the connections are lost', async () => connections.every(({ status }) => status !== 'ready'));
}

const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => `no error, but ${value}`,
    (error: unknown) => error,
  );

/** Calls that change the state of a limiter when they run. */
const changes: Record<string, (limiter: RateLimiter) => Promise<unknown>[]> = {
  decide: (limiter) => [1, 2, 3, 4, 5].map(() => limiter.decide()),
  tryAcquire: (limiter) => [1, 2, 3, 4, 5].map(() => limiter.tryAcquire()),
  acquire: (limiter) => [1, 2, 3, 4, 5].map(() => limiter.acquire()),
  'acquire with a timeout': (limiter) => [limiter.acquire(5, { timeout: 100 })],
  release: (limiter) => [1, 2, 3].map(() => limiter.release(2)),
  trySetRate: (limiter) => [limiter.trySetRate(other)],
  setRate: (limiter) => [limiter.setRate(other)],
  pauseFor: (limiter) => [limiter.pauseFor(day)],
  reset: (limiter) => [limiter.reset()],
  delete: (limiter) => [limiter.delete()],
};

const ofRedisson: Record<string, (limiter: RedissonRateLimiter) => Promise<unknown>[]> = {
  tryAcquire: (limiter) => [1, 2, 3, 4, 5].map(() => limiter.tryAcquire()),
  acquire: (limiter) => [1, 2, 3, 4, 5].map(() => limiter.acquire()),
  'acquire with a timeout': (limiter) => [limiter.acquire(5, { timeout: 100 })],
  release: (limiter) => [1, 2, 3].map(() => limiter.release(2)),
  setRate: (limiter) => [limiter.setRate(RateType.OVERALL, 7, day, { keepState: true })],
  updateRate: (limiter) => [limiter.updateRate(RateType.OVERALL, 7, day, { keepState: true })],
  expire: (limiter) => [limiter.expire(day)],
  delete: (limiter) => [limiter.delete()],
};

/** What the calls of a limiter change. */
async function stateOf(limiter: RateLimiter | RedissonRateLimiter): Promise<unknown> {
  const available = await limiter.availablePermits();
  if (limiter instanceof RateLimiter) return { available, stored: (await limiter.getRate()).stored };
  return { available, rate: (await limiter.getConfig()).rate, expires: await limiter.remainTimeToLive() };
}

/** Makes the calls of each limiter while the server is down until they have failed: they must not run when it is back. */
async function assertNeverRun<L extends RateLimiter | RedissonRateLimiter>(
  { proxy, connect }: Context,
  calls: Record<string, (limiter: L) => Promise<unknown>[]>,
  open: (redis: Redis, name: string) => L,
): Promise<void> {
  const [redis, own] = [connect(), connect()];
  const limiters = Object.keys(calls).map((name) => open(redis, name));
  // The grants of another client, which no release may take.
  const witnesses = Object.keys(calls).map((name) => open(own, name));
  for (const witness of witnesses) {
    if (witness instanceof RedissonRateLimiter) await witness.trySetRate(RateType.OVERALL, 100, day);
    await witness.tryAcquire(20);
  }
  const before = await Promise.all(limiters.map(stateOf));
  await bringDown(proxy, redis, own);
  await Promise.all(
    Object.entries(calls).map(async ([name, make], i) => {
      for (const error of await Promise.all(make(limiters[i]).map(errorOf)))
        assert.instance(error, name.includes('timeout') ? AcquireTimeoutError : StoreUnavailableError, name);
    }),
  );
  await proxy.reopen();
  await until('both are connected', async () => [redis, own].every(({ status }) => status === 'ready'));
  // Behind all calls that the client may have queued.
  assert.equal(await Promise.all(limiters.map(stateOf)), before);
  assert.equal(await Promise.all(witnesses.map(stateOf)), before);
  await Promise.all([...limiters, ...witnesses].map((limiter) => limiter.close()));
}

withOptions(test, queue)('a call that has failed does not run when Redis is back', async (context) => {
  await assertNeverRun(
    context,
    changes,
    (redis, name) => new RateLimiter({ name, limit, redis, storeTimeout: 300 }),
  );
});

withOptions(test, queue)(
  'RedissonRateLimiter: a call that has failed does not run when Redis is back',
  async (context) => {
    await assertNeverRun(
      context,
      ofRedisson,
      (redis, name) => new RedissonRateLimiter(redis, name, { storeTimeout: 300 }),
    );
  },
);

withOptions(test, queue)(
  'a call within its timeout is made once, when Redis is back, in the order of the calls',
  async ({ proxy, connect }) => {
    const redis = connect();
    const open = (name: string) => new RateLimiter({ name, limit, redis, storeTimeout: 30_000 });
    const [limiter, steered] = [open('waiting'), open('steered')];
    await limiter.acquire(10);
    await steered.acquire(10);
    await bringDown(proxy, redis);
    const all = Promise.all([
      limiter.decide(5),
      limiter.acquire(20),
      limiter.tryAcquire(30),
      limiter.decide(40),
      steered.setRate(other),
      steered.pauseFor(1),
      steered.release(4),
    ]);
    await proxy.reopen();
    const [decision, permit, granted, last] = await all;
    assert.is(decision.granted, true);
    assert.is(permit.source, 'redis');
    assert.is(granted, true);
    assert.is(last.granted, false, 'the calls before it left 35');
    assert.is(await limiter.availablePermits(), 35);
    assert.equal(await steered.getRate(), { limit: other, stored: true });
    assert.is(await steered.availablePermits(), 1);
    await Promise.all([limiter.close(), steered.close()]);
  },
);

withOptions(test, queue)(
  'RedissonRateLimiter: a call within its timeout is made once, when Redis is back',
  async ({ proxy, connect }) => {
    const redis = connect();
    const limiter = new RedissonRateLimiter(redis, 'waiting', { storeTimeout: 30_000 });
    await limiter.trySetRate(RateType.OVERALL, 100, day);
    await limiter.acquire(10);
    await bringDown(proxy, redis);
    assert.instance(await errorOf(limiter.acquire(50, { timeout: 100 })), AcquireTimeoutError);
    const all = Promise.all([limiter.acquire(20), limiter.tryAcquire(30), limiter.isExists()]);
    const released = limiter.release(5);
    await proxy.reopen();
    assert.equal((await all).slice(1), [true, true]);
    await released;
    assert.is(await limiter.availablePermits(), 45);
    await limiter.close();
  },
);

withOptions(test, queue)(
  'requests that have ended while Redis is down are not made when it is back',
  async ({ server, proxy, connect }) => {
    const redis = connect();
    const open = (name: string) => new RateLimiter({ name, limit, redis, storeTimeout: 30_000 });
    const ways: Record<string, (limiter: RateLimiter) => Promise<unknown>> = {
      'timed out': (limiter) => limiter.acquire(50, { timeout: 150 }),
      aborted: (limiter) => limiter.acquire(50, { signal: AbortSignal.timeout(20) }),
      closed: async (limiter) => {
        const waiting = errorOf(limiter.acquire(50));
        await until('the call waits', async () => limiter.stats().calls === 1);
        await limiter.close();
        throw await waiting;
      },
    };
    const limiters = Object.keys(ways).map(open);
    await Promise.all(limiters.map((limiter) => limiter.availablePermits()));
    await bringDown(proxy, redis);
    const errors = await Promise.all(Object.values(ways).map((way, i) => errorOf(way(limiters[i]))));
    assert.equal(
      errors.map((error) => (error as Error).name),
      ['AcquireTimeoutError', 'TimeoutError', 'LimiterClosedError'],
    );
    const next = limiters[1].acquire(1);
    await proxy.reopen();
    assert.is((await next).source, 'redis');
    for (const name of Object.keys(ways))
      assert.is(await open(name).availablePermits(), name === 'aborted' ? 99 : 100, name);
    // A late grant would have been refunded, which leaves a key.
    const keys = (await server.command('KEYS', '*')) as string[];
    assert.equal(
      keys.filter((key) => key.includes(':sequence:')),
      [],
    );
    await Promise.all(limiters.map((limiter) => limiter.close()));
  },
);

for (const options of [{ lazyConnect: true }, {}])
  withOptions(test, options)(
    `calls that are made before the first connection is open: ${JSON.stringify(options)}`,
    async ({ connect }) => {
      const redis = connect(options);
      const limiter = new RateLimiter({ name: 'first', limit, redis });
      const redisson = new RedissonRateLimiter(redis, 'first');
      const set = redisson.trySetRate(RateType.OVERALL, 10, day);
      const [permit, decision] = await Promise.all([limiter.acquire(), limiter.decide()]);
      assert.is(permit.source, 'redis');
      assert.is(decision.remaining, 98);
      assert.ok(await set);
      assert.is(limiter.stats().roundTrip, 0, 'the time to connect is no round trip');
      await Promise.all([limiter.close(), redisson.close()]);
      for (const event of ['ready', 'close', 'end'])
        assert.ok(redis.listenerCount(event) <= 1, `listeners of ${event} are left`);
    },
  );

aboutIoredis(test, 'its socket')(
  'a call on a socket that is closed already waits, whether ioredis knows or not',
  async ({ connect }) => {
    const redis = connect({ retryStrategy: () => 800 });
    const [brief, patient] = [300, 30_000].map(
      (storeTimeout) => new RateLimiter({ name: 'closed socket', limit, redis, storeTimeout }),
    );
    await brief.acquire();
    (redis as unknown as { stream: Socket }).stream.destroy();
    assert.is(redis.status, 'ready');
    const [failed, served] = [errorOf(brief.decide(50)), patient.decide(5)];
    assert.instance(await failed, StoreUnavailableError);
    assert.is((await served).remaining, 94);
    await Promise.all([brief.close(), patient.close()]);
  },
);

withOptions(test, { maxRetriesPerRequest: 2 })(
  'a call fails when ioredis would give it up, with the reason',
  async ({ proxy, connect }) => {
    const redis = connect({ maxRetriesPerRequest: 2 });
    const limiter = new RateLimiter({ name: 'given up', limit, redis, storeTimeout: 60_000 });
    await limiter.acquire();
    await bringDown(proxy, redis);
    const error = await errorOf(limiter.decide());
    assert.instance(error, StoreUnavailableError);
    assert.match((error as Error).message, 'ECONNREFUSED');
    redis.disconnect();
    await limiter.close();
  },
);

withOptions(test, queue)(
  'waiting calls fail at once when the client makes no further attempt, and so do later calls',
  async ({ proxy, connect }) => {
    const redis = connect({ retryStrategy: (times) => (times < 20 ? 20 : null) });
    const limiter = new RateLimiter({ name: 'ended', limit, redis, storeTimeout: 60_000 });
    await limiter.acquire();
    await bringDown(proxy, redis);
    assert.instance(await errorOf(limiter.decide()), StoreUnavailableError);
    assert.is(redis.status, 'end');
    assert.instance(await errorOf(limiter.decide()), StoreUnavailableError);
    await limiter.close();
  },
);

for (const [title, options] of Object.entries({
  'an attempt to connect': { maxRetriesPerRequest: 0 },
  'a wrong password': { username: 'nobody', password: 'wrong' },
}))
  aboutIoredis(test, 'its options')(
    `a stream that retries tries once for each loss of the connection: ${title}`,
    async ({ proxy, connect }) => {
      const limiter = new RateLimiter({ name: 'retries', limit, redis: connect(options) });
      if (!('password' in options)) await proxy.close();
      let attempts = 0;
      const granted = defer(() => {
        attempts++;
        return permits$(limiter);
      }).pipe(retry());
      const subscription = granted.subscribe();
      // The event loop goes on.
      await new Promise((resolve) => setTimeout(resolve, 300));
      subscription.unsubscribe();
      await limiter.close();
      assert.ok(attempts > 1 && attempts < 40, `${attempts} attempts`);
    },
  );

test.run();
