import type { Limit } from '../../limits/limit.ts';
import { WorkQueue } from '../../workQueue.ts';
import { memoryStore } from '../memory/memoryStore.ts';
import { connectionOf, type RedisConnection } from '../redis/connection.ts';
import { TimedCalls } from '../redis/timedCalls.ts';
import { TimedControlledLedger } from '../redis/timedLedger.ts';
import type { LedgerConfig, Store } from '../store.ts';
import { Allowing } from './allowing.ts';
import { Circuit } from './circuit.ts';
import type { Standby } from './fallbackCalls.ts';
import { FallbackLedger } from './fallbackLedger.ts';
import type { Fallback } from './fallbackOptions.ts';
import { Local } from './local.ts';
import { Recovery } from './recovery.ts';

/** A store over Redis with a fallback. Its limiters share the circuit; each has a standby of its own. */
export function fallbackStore(remote: Store, redis: RedisConnection, options: Fallback): Store {
  const { mode, ratio, timeout, cooldown } = options;
  const connection = connectionOf(redis);
  const circuit = new Circuit(cooldown);
  const memory = memoryStore();
  const works = new WorkQueue();
  const outage = {
    get isOver() {
      return connection.ready;
    },
    onRecovery: (work: () => void) => recovery?.await(work),
    kept: 0,
  };
  let calls: TimedCalls | undefined;
  let recovery: Recovery | undefined;

  function standbyOf(config: LedgerConfig, inForce: () => readonly Limit[]): Standby | undefined {
    if (mode === 'local') return new Local(config, circuit, memory, inForce, ratio);
    if (mode === 'allow') return new Allowing(inForce, config.clock);
    return undefined;
  }

  return {
    open(config) {
      calls ??= new TimedCalls({ clock: config.clock, connection, timeout, failsFast: true });
      const ledger = new TimedControlledLedger(config.name, remote.open(config), calls, outage);
      recovery ??= new Recovery({ clock: config.clock, circuit, connection, cooldown, redis: ledger });
      const standby = standbyOf(config, () => ledger.limits);
      return new FallbackLedger({ config, redis: ledger, standby, circuit, recovery, connection, works });
    },
  };
}
