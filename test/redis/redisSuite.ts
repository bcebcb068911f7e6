import { Redis, type RedisOptions } from 'ioredis';
import { suite, type Test } from 'uvu';
import { type RedisServer, startRedis } from '../support/redisServer.ts';

/** The context of a test with one server. */
export interface OnRedis {
  server: RedisServer;
  redis: Redis;
  /** Opens one more connection, which is closed after the test. */
  connect(options?: RedisOptions): Redis;
  /** Registers work for the end of the test, before its connections are closed. */
  afterwards(work: () => unknown): void;
}

/** Tests that share a server, which is flushed before each. */
export function redisSuite(name: string): Test<OnRedis> {
  const test = suite<OnRedis>(name);
  let connections: Redis[] = [];
  let works: (() => unknown)[] = [];
  test.before(async (context) => {
    context.server = await startRedis();
    context.connect = (options = {}) => {
      const connection = new Redis({ port: context.server.port, retryStrategy: () => 20, ...options });
      // The calls over a lost connection report it.
      connection.on('error', () => {});
      connections.push(connection);
      return connection;
    };
    context.afterwards = (work) => works.push(work);
  });
  test.before.each(async (context) => {
    await context.server.command('FLUSHALL');
    context.redis = context.connect();
  });
  test.after.each(async () => {
    await Promise.all(works.map((work) => work()));
    works = [];
    for (const connection of connections) connection.disconnect();
    connections = [];
  });
  test.after(({ server }) => server.stop());
  return test;
}
