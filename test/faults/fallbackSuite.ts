import { Redis, type RedisOptions } from 'ioredis';
import { suite, type Test } from 'uvu';
import { type Limit, RateLimiter, type RateLimiterOptions } from '../../src/index.ts';
import { freePort } from '../support/ports.ts';
import { RedisServer } from '../support/redisServer.ts';

type Fallback = RateLimiterOptions['fallback'];

/** What a test of the fallback works with. */
export interface OnFallback {
  /** A server of the test's own, which does not run yet. */
  server: RedisServer;
  /** A connection, to the server unless the options name another port. */
  connect(options?: RedisOptions): Redis;
  /** A limiter with a fallback, on a connection of its own. */
  open(limit: Limit, fallback: Fallback, options?: RedisOptions): RateLimiter;
  /** What Redis says of the same limit, by a limiter without a fallback. */
  available(limit: Limit): Promise<number>;
}

const name = 'fallback';

/** Tests that each have a server, which they start and take away. */
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
