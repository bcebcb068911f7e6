import type { ClusterOptions, RedisOptions } from 'ioredis';
import type { Callback, Test } from 'uvu';
import { StoreUnavailableError } from '../../src/index.ts';

/** The client that the store uses in the tests, if it is not ioredis: a key of `kinds`. */
export const clientName = process.env.SLUICE_CLIENT;

const ofIoredis =
  'enableAutoPipelining|autoResendUnfulfilledCommands|lazyConnect|showFriendlyErrorStack|stringNumbers';

/** The options of ioredis that have no counterpart, by client. */
const lacking: Record<string, string> = {
  'node-redis-6': ofIoredis,
  'node-redis-5': `${ofIoredis}|keyPrefix`,
  'valkey-glide': `${ofIoredis}|keyPrefix|enableOfflineQueue|sentinels`,
};

/** An option without a counterpart in the client. */
export function lackedOf(options: RedisOptions | ClusterOptions): string | undefined {
  if (!clientName) return undefined;
  const lacked = lacking[clientName].split('|');
  // Without a number of retries, a call waits for the connection, as with the others.
  if ((options as RedisOptions).maxRetriesPerRequest != null) lacked.push('maxRetriesPerRequest');
  return Object.keys(options).find((option) => lacked.includes(option));
}

/** The errors that the client does not explain: only ioredis sends calls again that were lost with a connection. */
export function unexplained(errors: readonly unknown[]): unknown[] {
  return errors.filter((error) => !clientName || !(error instanceof StoreUnavailableError));
}

export type Tests<T = Record<string, unknown>> = (name: string, run: Callback<T>) => void;

/** `test` for a test about ioredis itself: with another client it is skipped, and the reason is printed. */
export function aboutIoredis<T>(test: Test<T>, reason: string): Tests<T> {
  if (!clientName) return test;
  return (name) => {
    console.log(`skipped (${reason}): ${name}`);
    test.skip(name);
  };
}

/** `test` for a test of a connection with options of ioredis: skipped with a client that lacks one of them. */
export function withOptions<T>(test: Test<T>, options: RedisOptions | ClusterOptions): Tests<T> {
  const lacked = lackedOf(options);
  return lacked ? aboutIoredis(test, `${clientName} has no ${lacked}`) : test;
}
