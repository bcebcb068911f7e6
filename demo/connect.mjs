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
  } catch (error) {
    reason ??= error;
    throw new Error(`REDIS_URL: Redis cannot be reached: ${reason.message || reason.code}`);
  }
  return redis;
}
