import type { RateLimiterOptions } from '../../src/limiter/options.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import type { Limit } from '../../src/limits/limit.ts';
import type { Permit } from '../../src/port/permit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { type Fate, fateOf } from '../support/fakeTime.ts';

/** Limiters of one name and one store, each with the limit that it was made with, and more options of its own. */
export function sharing(...each: (Limit | Partial<RateLimiterOptions>)[]): RateLimiter[] {
  const store = memoryStore();
  return each.map(
    (one) =>
      new RateLimiter({
        name: 'api',
        store,
        ...('kind' in one ? { limit: one } : one),
      } as RateLimiterOptions),
  );
}

/** So many requests, all asked for now. */
export function ask(limiter: RateLimiter, count: number, timeout = Infinity, permits = 1): Fate<Permit>[] {
  return Array.from({ length: count }, () => fateOf(limiter.acquire(permits, { timeout })));
}
