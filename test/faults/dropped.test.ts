import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import * as assert from 'uvu/assert';
import {
  RateLimiter,
  RateType,
  RedissonRateLimiter,
  StoreUnavailableError,
  slidingWindow,
} from '../../src/index.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { aboutIoredis, withOptions } from '../support/anyClient.ts';
import { until } from '../support/until.ts';

const test = redisSuite('calls that ioredis drops');
const limit = slidingWindow({ permits: 100, interval: 60_000 });
const options: RedisOptions = {
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: null,
  retryStrategy: () => 20,
};

for (const [version, Client] of [
  [6, Redis],
  [5, Redis5 as unknown as typeof Redis],
] as const)
  aboutIoredis(test, 'an option of it')(
    `ioredis ${version} with autoResendUnfulfilledCommands: false: rejects the unanswered calls of a lost connection, without a storeTimeout too`,
    async ({ server, afterwards }) => {
      const redis = new Client({ port: server.port, ...options });
      redis.on('error', () => {});
      afterwards(() => redis.disconnect());
      const limiter = new RateLimiter({ name: 'dropped', limit, redis, storeTimeout: Infinity });
      const redisson = new RedissonRateLimiter(redis, 'dropped', { storeTimeout: Infinity });
      await redisson.trySetRate(RateType.OVERALL, 10, 60_000);
      await limiter.acquire();
      server.freeze();
      const calls = [
        limiter.acquire(),
        limiter.decide(),
        limiter.availablePermits(),
        redisson.acquire(),
        redisson.isExists(),
      ];
      const ends = calls.map((call) =>
        call.then(
          () => 'granted',
          (error: unknown) => error,
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
      // No reply arrives any more, as it might after disconnect().
      (redis as unknown as { stream: Socket }).stream.destroy();
      server.thaw();
      for (const error of await Promise.all(ends)) {
        assert.instance(error, StoreUnavailableError);
        assert.match((error as Error).message, 'the connection was lost');
      }
      await until('grants again', async () => (await limiter.acquire()).permits === 1);
      assert.is(redis.listenerCount('close'), 0, 'listeners are left');
      await Promise.all([limiter.close(), redisson.close()]);
    },
  );

withOptions(test, options)(
  'a call that ioredis queues until the connection is ready is made',
  async ({ server, afterwards }) => {
    const redis = new Redis({ port: server.port, ...options, lazyConnect: true });
    afterwards(() => redis.disconnect());
    const limiter = new RateLimiter({ name: 'dropped', limit, redis, storeTimeout: Infinity });
    assert.is((await limiter.acquire()).source, 'redis');
    redis.disconnect(true);
    await once(redis, 'close');
    assert.is((await limiter.acquire()).source, 'redis');
    await limiter.close();
  },
);

test.run();
