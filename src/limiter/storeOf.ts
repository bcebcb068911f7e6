import { memoryStore } from '../stores/memory/memoryStore.ts';
import { redisStore } from '../stores/redis/redisStore.ts';
import type { Store } from '../stores/store.ts';
import type { RateLimiterOptions } from './options.ts';

/** The store that the options name, or a new one in this process. */
export function storeOf({ redis, store }: Pick<RateLimiterOptions, 'redis' | 'store'>): Store {
  return redis ? redisStore(redis) : (store ?? memoryStore());
}
