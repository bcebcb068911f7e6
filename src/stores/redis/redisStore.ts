import type { Store } from '../store.ts';
import { LedgerSetting } from './ledgerSetting.ts';
import type { RedisClient } from './redisClient.ts';
import { RedisLedger } from './redisLedger.ts';
import { scriptsOf } from './scripts.ts';

/** The store of a fleet: each operation is one call of a script, which Redis runs atomically. */
export function redisStore(redis: RedisClient): Store {
  const scripts = scriptsOf(redis);
  let last: LedgerSetting | undefined;
  return {
    open(config) {
      // The limiters of a group differ only in their keys.
      if (!last?.suits(config)) last = new LedgerSetting(config, scripts);
      return new RedisLedger(last, config.key);
    },
  };
}
