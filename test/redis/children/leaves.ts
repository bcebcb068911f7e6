// A process that uses a limiter and closes all that it has opened: it must end by itself.
import { Redis } from 'ioredis';
import { RateLimiter, tokenBucket } from '../../../src/index.ts';

const redis = new Redis(process.argv[2]);
const limit = tokenBucket({ permits: 1, interval: 60_000 });
const limiter = new RateLimiter({ name: 'api', limit, redis });
await limiter.acquire();
// One request waits for minutes, one until its timeout, and one is cancelled.
const waiting = Promise.allSettled([
  limiter.acquire(),
  limiter.acquire(1, { timeout: 100_000 }),
  limiter.acquire(1, { signal: AbortSignal.timeout(20) }),
]);
await new Promise((resolve) => setTimeout(resolve, 100));
await limiter.close();
await waiting;
await redis.quit();
console.log('closed');
