import { Redis, type RedisOptions } from 'ioredis';
import { suite, type Test } from 'uvu';
import { type RedisServer, startRedis } from '../support/redisServer.ts';

/** What a test on one server works with. */
export interface OnRedis {
  server: RedisServer;
  redis: Redis;
  /** One more connection, for as long as the test runs. */
  connect(options?: RedisOptions): Redis;
  /** Works after the test, however it ends, and before its connections are gone. */
  afterwards(work: () => unknown): void;
}

/** Tests that share a server, which is empty before each. */
export function redisSuite(name: string): Test<OnRedis> {
  const test = suite<OnRedis>(name);
  let connections: Redis[] = [];
  let works: (() => unknown)[] = [];
  test.before(async (context) => {
    context.server = await startRedis();
    context.connect = (options = {}) => {
      const connection = new Redis({ port: context.server.port, retryStrategy: () => 20, ...options });
      // What a lost connection means is for the calls over it to say.
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
