import type { Store } from '../store.ts';
import { connectionOf, type RedisConnection } from './connection.ts';
import { TimedCalls } from './timedCalls.ts';
import { TimedControlledLedger } from './timedLedger.ts';

/** A store over Redis whose calls take at most `timeout` milliseconds. Calls that cannot be sent at once wait here. */
export function timedStore(remote: Store, redis: RedisConnection, timeout: number): Store {
  const connection = connectionOf(redis);
  if (timeout === Infinity && !connection.dropsCalls) return remote;
  let calls: TimedCalls | undefined;
  return {
    open(config) {
      calls ??= new TimedCalls({ clock: config.clock, connection, timeout, failsFast: false });
      return new TimedControlledLedger(config.name, remote.open(config), calls);
    },
  };
}
