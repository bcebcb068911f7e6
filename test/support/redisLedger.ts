import { LedgerSetting } from '../../src/stores/redis/ledgerSetting.ts';
import { RedisLedger } from '../../src/stores/redis/redisLedger.ts';
import type { Scripts } from '../../src/stores/redis/scripts.ts';
import type { ControlledLedger, LedgerConfig } from '../../src/stores/store.ts';

/** The ledger of one limiter in Redis. With `serverTime`, the scripts run at that time of the server: microseconds. */
export function openRedisLedger(
  config: Omit<LedgerConfig, 'clock'>,
  scripts: Scripts,
  serverTime?: () => number,
): ControlledLedger {
  return new RedisLedger(new LedgerSetting(config, scripts, serverTime), config.key);
}
