import { Redis } from 'ioredis';

/** Connects to Redis, or says why it cannot. */
export async function connect(url) {
  const redis = new Redis(url, { lazyConnect: true, connectTimeout: 3_000, retryStrategy: () => null });
  let reason;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    // Where that cannot be done, ioredis goes on in database 0, and says so to nobody.
    if (redis.options.db) await redis.select(redis.options.db);
  } catch (error) {
    redis.disconnect();
    reason ??= error;
    throw new Error(`REDIS_URL: Redis cannot be used: ${reason.message || reason.code}`);
  }
  return redis;
}
