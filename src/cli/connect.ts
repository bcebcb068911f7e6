import type { Redis } from 'ioredis';
import { UsageError } from './failure.ts';

/**
 * Connects to Redis.
 *
 * @param url the URL of Redis
 * @throws UsageError if ioredis is not installed
 * @throws Error with the reason if Redis cannot be reached, or has no such database
 */
export async function connect(url: string): Promise<Redis> {
  const ioredis = await import('ioredis').catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError('--redis (or REDIS_URL) needs ioredis, which is not installed: npm install ioredis');
  });
  // The first versions of ioredis 5 have the class only as their default export.
  const { Redis = ioredis.default } = ioredis;
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    commandTimeout: 3_000,
    maxRetriesPerRequest: 10,
  });
  let reason: NodeJS.ErrnoException | undefined;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    reason ??= error as Error;
    // If a host name has several addresses, their common error has a code and no message.
    throw new Error(`Redis cannot be reached: ${reason.message || reason.code}`, { cause: error });
  }
  await select(redis, redis.options.db);
  return redis;
}

/** Selects the database of the URL. If that fails, ioredis itself would silently continue in database 0. */
async function select(redis: Redis, database: number | undefined): Promise<void> {
  if (!database) return;
  try {
    await redis.select(database);
  } catch (error) {
    redis.disconnect();
    const { message } = error as Error;
    throw new Error(`database ${database} of Redis cannot be selected: ${message}`, { cause: error });
  }
}
