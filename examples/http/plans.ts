import type { Redis } from 'ioredis';
import { type Limit, RateLimiterGroup, slidingWindow, tokenBucket } from 'rxjs-sluice';

/** The limit of each plan. */
export const plans = {
  free: slidingWindow({ permits: 10, interval: 60_000 }),
  pro: tokenBucket({ permits: 600, interval: 60_000, burst: 50 }),
} satisfies Record<string, Limit>;

export interface User {
  id: string;
  plan: keyof typeof plans;
}

/** The plan is part of the key, so that a user who changes it gets another limit. */
export const keyOf = ({ id, plan }: User) => `${plan}:${id}`;

export const limitOf = (key: string) => plans[key.slice(0, key.indexOf(':')) as keyof typeof plans];

/**
 * One limit for each user, shared by all processes; without `redis`, of this process. While Redis is unavailable, each process
 * grants half of each limit, so that the server continues to respond.
 */
export const userLimits = (redis?: Redis) =>
  new RateLimiterGroup({
    name: 'users',
    limit: limitOf,
    ...(redis && { redis, fallback: 'local' as const }),
  });
