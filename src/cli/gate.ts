import type { Redis } from 'ioredis';
import { type Limiter, RateLimiter, RateType, RedissonRateLimiter } from '../index.ts';
import type { Arguments } from './arguments.ts';
import { connect } from './connect.ts';

/** An open limiter. */
export interface Gate {
  readonly limiter: Limiter;
  /** Refunds reservations, and closes the connection. */
  close(): Promise<void>;
}

/** Opens the limiter: in this process, on Redis, or on Redisson's keys. */
export async function openGate(options: Arguments): Promise<Gate> {
  const { redis: url, redisson, limit } = options;
  const redis = url === undefined ? undefined : await connect(url);
  const limiter = redisson ? new RedissonRateLimiter(redis!, options.name) : ownLimiter(options, redis);
  async function close(): Promise<void> {
    await limiter.close();
    redis?.disconnect();
  }
  try {
    if (limiter instanceof RedissonRateLimiter && limit)
      await limiter.trySetRate(RateType.OVERALL, limit.permits, limit.interval);
  } catch (error) {
    await close();
    throw error;
  }
  return { limiter, close };
}

function ownLimiter({ name, limit }: Arguments, redis: Redis | undefined): RateLimiter {
  // While Redis cannot be reached, no line may pass uncounted: the command fails instead.
  const fallback = redis && ({ mode: 'reject', timeout: 3_000 } as const);
  return new RateLimiter({ name, limit: limit!, redis, fallback });
}
