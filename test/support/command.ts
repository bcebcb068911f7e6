import { Redis } from 'ioredis';

/**
 * Runs one command on the server at a port of this machine, over its own connection, so that it neither waits behind
 * the connections under test nor appears among them afterwards. Replies have their RESP2 shape.
 */
export async function command(port: number, name: string, ...args: (string | number)[]): Promise<unknown> {
  const redis = new Redis(port, '127.0.0.1', {
    protocol: 2,
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    connectTimeout: 2_000,
    commandTimeout: 15_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // The awaited calls below fail with the same reason; without a listener it would be printed too.
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await redis.call(name, ...args);
  } finally {
    redis.disconnect();
  }
}
