import { from, lastValueFrom, merge, toArray } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  fixedWindow,
  RateLimiter,
  RateLimiterGroup,
  RateType,
  type RedisClient,
  RedissonRateLimiter,
  StoreError,
  StoreUnavailableError,
  slidingWindow,
  throttleDistributed,
} from '../../src/index.ts';
import { errorOf } from '../../src/stores/redis/errors.ts';
import { type Kind, kinds, type Opened } from '../support/kinds.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';
import { ioredis } from './ioredis.ts';

interface OnClient {
  server: RedisServer;
  redis: RedisClient;
  /** Opens one more connection, which is closed after the test. */
  open(kind?: Pick<Kind, 'open'>): Promise<RedisClient>;
}

const limit = slidingWindow({ permits: 3, interval: 60_000 });

for (const kind of Object.values(kinds)) {
  const test = suite<OnClient>(kind.title);
  let opened: Opened[] = [];
  test.before(async (context) => {
    context.server = await startRedis();
    context.open = async (other = kind) => {
      const one = other.open({ port: context.server.port, retryStrategy: () => 20 });
      opened.push(one);
      await one.opening;
      return one.redis;
    };
  });
  test.before.each(async (context) => {
    await context.server.command('FLUSHALL');
    context.redis = await context.open();
  });
  test.after.each(() => {
    for (const one of opened) one.close();
    opened = [];
  });
  test.after(({ server }) => server.stop());

  test('requests are granted, refused, refunded and settled', async ({ redis }) => {
    const limiter = new RateLimiter({ name: 'api', limit: { a: limit, b: limit }, redis });
    const permit = await limiter.acquire({ a: 2, b: 1 });
    assert.is(permit.source, 'redis');
    assert.ok(Math.abs(permit.grantedAt - Date.now()) < 5_000);
    assert.not(await limiter.tryAcquire(2));
    const { granted, remaining } = await limiter.decide(1);
    assert.equal({ granted, remaining }, { granted: true, remaining: 0 });
    await permit.refund();
    assert.equal(await limiter.availablePermits({ detail: true }), { a: 2, b: 2 });
    const estimated = await limiter.acquire(2);
    await estimated.settle(1);
    assert.equal(await limiter.availablePermits({ detail: true }), { a: 1, b: 1 });
    await limiter.release(1);
    assert.is(await limiter.availablePermits(), 2);
    await limiter.close();
  });

  test('a waiting request is granted when its moment comes, or times out', async ({ redis }) => {
    const limiter = new RateLimiter({
      name: 'api',
      limit: fixedWindow({ permits: 1, interval: 150 }),
      redis,
    });
    const [first, second] = await Promise.all([limiter.acquire(), limiter.acquire()]);
    assert.ok(second.grantedAt - first.grantedAt >= 150);
    assert.is(await limiter.tryAcquire(1, { timeout: 1 }), false);
    await limiter.close();
  });

  test('a rate and a pause reach another client', async ({ redis, open }) => {
    const [a, b] = [redis, await open(ioredis)].map(
      (one) => new RateLimiter({ name: 'api', limit, redis: one }),
    );
    await a.setRate(slidingWindow({ permits: 7, interval: 60_000 }));
    assert.is(await b.availablePermits(), 7);
    assert.is(await b.trySetRate(limit), false);
    assert.ok((await a.getRate()).stored);
    // Its own limits are others: the script names those in force.
    assert.is(await a.availablePermits(), 7);
    await b.pauseFor(60_000);
    assert.not(await a.tryAcquire());
    await a.reset();
    assert.ok(await b.tryAcquire());
    await a.delete();
    assert.is(await b.availablePermits(), 3);
    await Promise.all([a.close(), b.close()]);
  });

  test('a group limits keys of any name', async ({ redis, server }) => {
    const group = new RateLimiterGroup({ name: 'users', limit, redis });
    for (const key of ['plain', '{brace', '}{', '{a}b', 'ünïcødé 漢字 🚦', 'a\r\nb']) {
      const limiter = group.get(key);
      const granted = await Promise.all([1, 2, 3, 4].map(() => limiter.tryAcquire()));
      assert.equal(granted, [true, true, true, false], key);
    }
    const keys = (await server.command('KEYS', '*漢字*')) as string[];
    assert.ok(keys.length > 0);
    await group.close();
  });

  test('only the hash of a script is sent, and its text after a flush', async ({ redis, server }) => {
    const limiter = new RateLimiter({
      name: 'api',
      limit: slidingWindow({ permits: 90, interval: 60_000 }),
      redis,
    });
    await server.command('CONFIG', 'RESETSTAT');
    const calls = async (command: string) => {
      const stats = String(await server.command('INFO', 'commandstats'));
      return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    };
    await until('the hash is sent', async () => {
      await limiter.decide();
      return (await calls('evalsha')) > 2;
    });
    const before = await calls('eval');
    await server.command('SCRIPT', 'FLUSH');
    assert.ok((await limiter.acquire()).permits);
    assert.is(await calls('eval'), before + 1);
    await limiter.close();
  });

  test('a key of another type is a StoreError, which a fallback does not hide', async ({ redis, server }) => {
    await server.command('LPUSH', '{sluice:api}', 'x');
    for (const fallback of [undefined, 'local'] as const) {
      const limiter = new RateLimiter({ name: 'api', limit, redis, fallback });
      const error = await limiter.acquire().catch((reason) => reason);
      assert.instance(error, StoreError);
      assert.match(error.message, 'the key {sluice:api} holds no ledger');
      await limiter.close();
    }
  });

  test('error replies are reported as those of ioredis', async ({ redis }) => {
    for (const [reply, type] of [
      ['NOPERM no', StoreError],
      ['LOADING yes', StoreUnavailableError],
      ['READONLY yes', StoreUnavailableError],
      ['TRYAGAIN yes', StoreUnavailableError],
    ] as const) {
      redis.defineCommand('failing', { lua: `return redis.error_reply('${reply}')`, numberOfKeys: 0 });
      const { failing } = redis as unknown as { failing(): Promise<never> };
      const error = await failing().then(
        () => assert.unreachable(),
        (reason) => reason,
      );
      assert.is(error.name, 'ReplyError');
      assert.match(error.message, reply);
      assert.instance(error.cause, Error);
      assert.instance(errorOf('api', error), type);
      assert.match(errorOf('api', error).message, `: ${reply}`);
      assert.not.match(errorOf('api', error).message, /script|cannot be reached/);
    }
  });

  test('without a fallback, a lost server is unavailable, and the limiter recovers', async ({
    redis,
    server,
  }) => {
    const limiter = new RateLimiter({ name: 'api', limit, redis, storeTimeout: 300 });
    await limiter.acquire();
    await server.kill();
    const error = await limiter.acquire().catch((reason) => reason);
    assert.instance(error, StoreUnavailableError);
    await server.start();
    await until('it grants again', () => limiter.tryAcquire().catch(() => false));
    await limiter.close();
  });

  test('with a fallback, this process grants while the server is lost', async ({ redis, server }) => {
    const fallback = { mode: 'local', ratio: 1, timeout: 200, cooldown: 50 } as const;
    const limiter = new RateLimiter({
      name: 'api',
      limit: slidingWindow({ permits: 10_000, interval: 60_000 }),
      redis,
      fallback,
    });
    assert.is((await limiter.acquire()).source, 'redis');
    await server.kill();
    assert.is((await limiter.acquire()).source, 'fallback');
    await server.start();
    await until('Redis grants again', async () => (await limiter.acquire()).source === 'redis');
    await limiter.close();
  });

  test('a frozen server is unavailable after storeTimeout', async ({ redis, server }) => {
    const limiter = new RateLimiter({ name: 'api', limit, redis, storeTimeout: 100 });
    await limiter.acquire();
    server.freeze();
    const error = await limiter.acquire().catch((reason) => reason);
    server.thaw();
    assert.instance(error, StoreUnavailableError);
    // The reservation that was made late is refunded.
    await until('two are left', async () => (await limiter.availablePermits().catch(() => 0)) === 2);
    await limiter.close();
  });

  test('a limiter on the keys of Redisson', async ({ redis, open }) => {
    const limiter = new RedissonRateLimiter(redis, 'jvm');
    assert.not(await limiter.isExists());
    assert.ok(await limiter.trySetRate(RateType.OVERALL, 3, 60_000, { keepAlive: 600_000 }));
    await limiter.acquire(2);
    const other = new RedissonRateLimiter(await open(ioredis), 'jvm');
    assert.is(await other.availablePermits(), 1);
    assert.not(await other.tryAcquire(2));
    const { rate, keepAlive } = await limiter.getConfig();
    assert.equal({ rate, keepAlive }, { rate: 3, keepAlive: 600_000 });
    assert.ok((await limiter.remainTimeToLive()) > 0);
    // A weight that is no ASCII is sent as bytes.
    await limiter.setRate(RateType.OVERALL, 500, 60_000);
    const heavy = await limiter.acquire(200);
    await heavy.refund(50);
    assert.is(await other.availablePermits(), 350);
    assert.ok(await limiter.delete());
    assert.not(await limiter.delete());
    await Promise.all([limiter.close(), other.close()]);
  });

  test('shares a limit with ioredis, which is never exceeded', async ({ redis, open }) => {
    const [permits, interval] = [10, 200];
    const shared = slidingWindow({ permits, interval, resolution: 1 });
    const limiters = [redis, await open(ioredis)].map(
      (one) => new RateLimiter({ name: 'shared', limit: shared, redis: one }),
    );
    const streams = limiters.map((limiter) =>
      from(Array.from({ length: 25 }, (_, i) => i)).pipe(
        throttleDistributed(limiter, { project: (_, { grantedAt }) => grantedAt }),
      ),
    );
    const moments = await lastValueFrom(merge(...streams).pipe(toArray()));
    moments.sort((a, b) => a - b);
    assert.is(moments.length, 50);
    for (let i = permits; i < moments.length; i++)
      assert.ok(moments[i] - moments[i - permits] >= interval, `${moments[i] - moments[i - permits]} ms`);
    await Promise.all(limiters.map((limiter) => limiter.close()));
  });

  test.run();
}
