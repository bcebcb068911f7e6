import type { Limit } from '../../limits/limit.ts';
import { memoryStore } from '../memory/memoryStore.ts';
import type { ControlledLedger, LedgerConfig, Store } from '../store.ts';
import { Allowing } from './allowing.ts';
import { Circuit } from './circuit.ts';
import { connectionOf, type RedisConnection } from './connection.ts';
import { FallbackLedger } from './fallbackLedger.ts';
import type { Fallback } from './fallbackOptions.ts';
import { FallbackService } from './fallbackService.ts';
import { Local } from './local.ts';
import { Recovery } from './recovery.ts';
import { Rejecting } from './rejecting.ts';

/**
 * A store over Redis that goes on while Redis is away. All limiters that it opens share what is known of the connection;
 * each has a fallback of its own.
 */
export function fallbackStore(remote: Store, redis: RedisConnection, options: Fallback): Store {
  const { mode, ratio, timeout, cooldown } = options;
  const connection = connectionOf(redis);
  const circuit = new Circuit(cooldown);
  const memory = memoryStore();
  const kept = { refunds: 0 };

  function standbyOf(config: LedgerConfig, inForce: () => readonly Limit[]): ControlledLedger {
    if (mode === 'local') return new Local(config, circuit, memory, inForce, ratio);
    if (mode === 'allow') return new Allowing(config.name, circuit, inForce, config.clock);
    return new Rejecting(config.name, circuit);
  }

  return {
    open(config) {
      const { name, clock } = config;
      const ledger = remote.open(config);
      const fallback = standbyOf(config, () => ledger.limits);
      const returns = new Recovery(ledger, connection, circuit, kept);
      const way = { name, connection, clock, timeout };
      const service = new FallbackService(config, circuit, way, { redis: ledger, fallback });
      return new FallbackLedger({ redis: ledger, fallback, service, returns, circuit, clock });
    },
  };
}
