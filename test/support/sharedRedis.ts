import { Redis, type RedisOptions } from 'ioredis';
import type { Test } from 'uvu';
import { type RedisServer, startRedis } from './redisServer.ts';

/** A server, and a connection to it. */
export interface SharedRedis {
  server: RedisServer;
  redis: Redis;
}

/** The server of all tests of a suite, which runs from before the first until after the last of them. */
export function sharedRedis(test: Pick<Test, 'before' | 'after'>, options: RedisOptions = {}): SharedRedis {
  const shared = {} as SharedRedis;
  test.before(async () => {
    shared.server = await startRedis();
    shared.redis = new Redis(shared.server.port, options);
  });
  test.after(async () => {
    shared.redis.disconnect();
    await shared.server.stop();
  });
  return shared;
}
