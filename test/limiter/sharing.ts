import type { RateLimiterOptions } from '../../src/limiter/options.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import type { Limit } from '../../src/limits/limit.ts';
import type { Permit } from '../../src/port/permit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { type Fate, fateOf } from '../support/fakeTime.ts';

/** Limiters of one name and one store: one for each limit, or for each set of options. */
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

/** Makes `count` requests now. */
export function ask(limiter: RateLimiter, count: number, timeout = Infinity, permits = 1): Fate<Permit>[] {
  return Array.from({ length: count }, () => fateOf(limiter.acquire(permits, { timeout })));
}
