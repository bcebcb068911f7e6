import type { Cluster, Redis } from 'ioredis';
import type { ControlledLedger, LedgerConfig, Store } from '../store.ts';
import { RedisLedger } from './redisLedger.ts';
import { type Scripts, scriptsOf } from './scripts.ts';
import { Seat } from './seat.ts';

/** The store of a fleet: each operation is one call of a script, which Redis runs by itself. */
export function redisStore(redis: Redis | Cluster): Store {
  const scripts = scriptsOf(redis);
  let last: Seat | undefined;
  return {
    open(config) {
      // The limiters of a group differ in their keys alone.
      if (!last?.suits(config)) last = new Seat(config, scripts);
      return new RedisLedger(last, config.key);
    },
  };
}

/**
 * The ledger of one limiter in Redis.
 *
 * `serverTime` is for tests alone, which compare the scripts with their twins at the same time: microseconds.
 */
export function openRedisLedger(
  config: Omit<LedgerConfig, 'clock'>,
  scripts: Scripts,
  serverTime?: () => number,
): ControlledLedger {
  return new RedisLedger(new Seat(config, scripts, serverTime), config.key);
}
