import { Redis } from 'ioredis';

/** Connects to Redis, or throws an error with the reason. */
export async function connect(url) {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 3_000, retryStrategy: () => null });
  let reason;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    // If the database cannot be selected, ioredis silently continues in database 0.
    if (redis.options.db) await redis.select(redis.options.db);
  } catch (error) {
    redis.disconnect();
    reason ??= error;
    throw new Error(`REDIS_URL: Redis cannot be used: ${reason.message || reason.code}`);
  }
  return redis;
}
