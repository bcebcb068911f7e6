import type { Store } from '../store.ts';
import { latenessFrom } from './createLedger.ts';
import { MemoryLedger } from './memoryLedger.ts';
import { Places } from './places.ts';
import { Setting } from './setting.ts';

/**
 * A store in this process. Limiters with the same store and name share one limit.
 *
 * It answers synchronously. A limiter without `redis` and `store` creates its own.
 *
 * @example
 * const store = memoryStore();
 * const a = new RateLimiter({ name: 'api', limit, store });
 * const b = new RateLimiter({ name: 'api', limit, store }); // the two share one limit
 */
export function memoryStore(): Store {
  return openStore(true);
}

/** The store of one limiter or group, which has no index yet. */
export function ownStore(): Store {
  return openStore(false);
}

function openStore(isIndexed: boolean): Store {
  const places = new Places(isIndexed);
  let last: Setting | undefined;
  return {
    open(config) {
      if (places.origin === undefined) {
        places.origin = config.clock.origin;
        places.late = latenessFrom(places.origin);
      }
      if (!last?.suits(config)) last = new Setting(config, places);
      return new MemoryLedger(last, config.key ?? config.name);
    },
    index: (ledger) => places.index(ledger as MemoryLedger | undefined),
  };
}
