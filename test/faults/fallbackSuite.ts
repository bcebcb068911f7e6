import { Redis, type RedisOptions } from 'ioredis';
import { suite, type Test } from 'uvu';
import { type Limit, RateLimiter, type RateLimiterOptions } from '../../src/index.ts';
import { freePort } from '../support/ports.ts';
import { RedisServer } from '../support/redisServer.ts';

type Fallback = RateLimiterOptions['fallback'];

/** The context of a test of the fallback. */
export interface OnFallback {
  /** A server of the test's own, not started yet. */
  server: RedisServer;
  /** A connection, to the server unless the options name another port. */
  connect(options?: RedisOptions): Redis;
  /** A limiter with a fallback, on its own connection. */
  open(limit: Limit, fallback: Fallback, options?: RedisOptions): RateLimiter;
  /** The state of the same limit in Redis, read by a limiter without a fallback. */
  available(limit: Limit): Promise<number>;
}

const name = 'fallback';

/** Tests that each start and stop their own server. */
export function fallbackSuite(title: string): Test<OnFallback> {
  const test = suite<OnFallback>(title);
  let connections: Redis[] = [];
  let limiters: RateLimiter[] = [];
  test.before.each(async (context) => {
    context.server = new RedisServer(await freePort());
    context.connect = (options) => {
      const redis = new Redis({ port: context.server.port, retryStrategy: () => 50, ...options });
      redis.on('error', () => {});
      connections.push(redis);
      return redis;
    };
    context.open = (limit, fallback, options) => {
      const limiter = new RateLimiter({ name, limit, fallback, redis: context.connect(options) });
      limiters.push(limiter);
      return limiter;
    };
    let witness: RateLimiter | undefined;
    context.available = (limit) => {
      if (!witness) {
        witness = new RateLimiter({ name, limit, redis: context.connect() });
        limiters.push(witness);
      }
      return witness.availablePermits();
    };
  });
  test.after.each(async ({ server }) => {
    server.thaw();
    await Promise.all(limiters.map((limiter) => limiter.close()));
    for (const connection of connections) connection.disconnect();
    [connections, limiters] = [[], []];
    await server.stop();
  });
  return test;
}
