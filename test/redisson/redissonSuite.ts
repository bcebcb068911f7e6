import type { Redis } from 'ioredis';
import type { Test } from 'uvu';
import { RedissonRateLimiter } from '../../src/index.ts';
import { type OnRedis, redisSuite } from '../redis/redisSuite.ts';
import { JvmClient, type JvmClientOptions } from '../support/jvmClient.ts';

interface OurOptions {
  name?: string;
  clientId?: string;
}

/** The context of a test with one server, for Redisson's keys. */
export interface OnRedisson extends OnRedis {
  /** One of our limiters, over its own connection. */
  ours(options?: OurOptions): RedissonRateLimiter;
  /** The same, over an existing connection. */
  limiterOn(redis: Redis, options?: OurOptions): RedissonRateLimiter;
  /** A model of a JVM client, over its own connection. */
  jvm(options?: JvmClientOptions & { name?: string }): JvmClient;
}

type Permits = 'tryAcquire' | 'release' | 'availablePermits' | 'trySetRate' | 'setRate' | 'updateRate';
type Lifetime = 'expire' | 'clearExpire' | 'remainTimeToLive' | 'isExists' | 'delete';

/** The members common to our limiter and the model. */
export interface Client extends Pick<RedissonRateLimiter, Permits | Lifetime> {
  acquire(permits?: number): Promise<unknown>;
  getConfig(): Promise<{ type: number; rate: number; interval: number }>;
}

/** The limiter that the tests use. */
export const api = 'api';

/** Tests that share a server, which is empty before each. Their limiters and connections end with them. */
export function redissonSuite(name: string): Test<OnRedisson> {
  const test = redisSuite(name) as Test<OnRedisson>;
  test.before((context) => {
    const { connect, afterwards } = context;
    context.limiterOn = (redis, { name = api, ...options } = {}) => {
      const limiter = new RedissonRateLimiter(redis, name, options);
      afterwards(() => limiter.close());
      return limiter;
    };
    context.ours = (options) => context.limiterOn(connect(), options);
    context.jvm = ({ name = api, ...options } = {}) => {
      const client = new JvmClient(connect(), name, options);
      afterwards(() => client.end());
      return client;
    };
  });
  return test;
}

/** Requests one permit `times` times, and counts the grants. */
export async function takeOneByOne(client: Pick<Client, 'tryAcquire'>, times: number): Promise<number> {
  let granted = 0;
  for (let i = 0; i < times; i++) if (await client.tryAcquire()) granted++;
  return granted;
}
