import type { Redis } from 'ioredis';
import type { Test } from 'uvu';
import { RedissonRateLimiter } from '../../src/index.ts';
import { type OnRedis, redisSuite } from '../redis/redisSuite.ts';
import { JvmClient, type JvmClientOptions } from '../support/jvmClient.ts';

interface OurOptions {
  name?: string;
  clientId?: string;
}

/** What a test on one server works with, where Redisson's keys are concerned. */
export interface OnRedisson extends OnRedis {
  /** One of our limiters, over a connection of its own. */
  ours(options?: OurOptions): RedissonRateLimiter;
  /** The same, over a connection that is there. */
  limiterOn(redis: Redis, options?: OurOptions): RedissonRateLimiter;
  /** A stand-in for a JVM client, over a connection of its own. */
  jvm(options?: JvmClientOptions & { name?: string }): JvmClient;
}

type Permits = 'tryAcquire' | 'release' | 'availablePermits' | 'trySetRate' | 'setRate' | 'updateRate';
type Lifetime = 'expire' | 'clearExpire' | 'remainTimeToLive' | 'isExists' | 'delete';

/** What ours and the stand-in have in common. */
export interface Client extends Pick<RedissonRateLimiter, Permits | Lifetime> {
  acquire(permits?: number): Promise<unknown>;
  getConfig(): Promise<{ type: number; rate: number; interval: number }>;
}

/** The limiter that tests speak of. */
export const api = 'api';

/** Tests that share a server, which is empty before each. What they make ends with them. */
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

/** Asks so many times for one permit each, and counts how often it was granted. */
export async function takeOneByOne(client: Pick<Client, 'tryAcquire'>, times: number): Promise<number> {
  let granted = 0;
  for (let i = 0; i < times; i++) if (await client.tryAcquire()) granted++;
  return granted;
}
