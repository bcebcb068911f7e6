import { fallbackOf } from '../stores/fallback/fallbackOptions.ts';
import { fallbackStore } from '../stores/fallback/fallbackStore.ts';
import { memoryStore } from '../stores/memory/memoryStore.ts';
import { redisStore } from '../stores/redis/redisStore.ts';
import { timedStore } from '../stores/redis/timedStore.ts';
import type { Store } from '../stores/store.ts';
import type { RateLimiterOptions } from './options.ts';

/** The store that the options name, or a new one in this process. */
export function storeOf({
  redis,
  store,
  fallback,
  storeTimeout = 5_000,
}: Pick<RateLimiterOptions, 'redis' | 'store' | 'fallback' | 'storeTimeout'>): Store {
  if (!redis) return store ?? memoryStore();
  const remote = redisStore(redis);
  if (fallback === undefined) return timedStore(remote, redis, storeTimeout);
  return fallbackStore(remote, redis, fallbackOf(fallback));
}
