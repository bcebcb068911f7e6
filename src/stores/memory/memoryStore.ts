import type { Store } from '../store.ts';
import { MemoryLedger } from './memoryLedger.ts';
import { Places } from './places.ts';

/**
 * A store inside this process: limiters that are given the same one, and the same name, share their limit.
 *
 * It answers synchronously. A limiter without `redis` and `store` has one of its own.
 *
 * @example
 * const store = memoryStore();
 * const a = new RateLimiter({ name: 'api', limit, store });
 * const b = new RateLimiter({ name: 'api', limit, store }); // the two share one limit
 */
export function memoryStore(): Store {
  const places = new Places();
  let origin: number | undefined;
  return {
    open(config) {
      // One zero for all: a limiter that is made after a step of the wall clock shares the time of those before it.
      origin ??= config.clock.origin;
      return new MemoryLedger(config, origin, places);
    },
  };
}
