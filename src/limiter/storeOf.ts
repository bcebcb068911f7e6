import { fallbackOf } from '../stores/fallback/fallbackOptions.ts';
import { fallbackStore } from '../stores/fallback/fallbackStore.ts';
import { memoryStore } from '../stores/memory/memoryStore.ts';
import { redisStore } from '../stores/redis/redisStore.ts';
import type { Store } from '../stores/store.ts';
import type { RateLimiterOptions } from './options.ts';

/** The store that the options name, or a new one in this process. */
export function storeOf({
  redis,
  store,
  fallback,
}: Pick<RateLimiterOptions, 'redis' | 'store' | 'fallback'>): Store {
  if (!redis) return store ?? memoryStore();
  const remote = redisStore(redis);
  return fallback === undefined ? remote : fallbackStore(remote, redis, fallbackOf(fallback));
}
