import * as check from '../../validate.ts';

/**
 * The members of a Redis client that this library uses. The `Redis` and `Cluster` of ioredis have them; {@link nodeRedis} and
 * {@link valkeyGlide} adapt other clients.
 */
export interface RedisClient {
  /**
   * `'ready'` while commands are sent at once; `'wait'`, `'connecting'` or `'connect'` before the connection is open for the first
   * time; `'close'` or `'reconnecting'` before it is open again. With any other status, a command is expected to reject.
   */
  readonly status: string;
  /** Opens the connection. Called only while the status is `'wait'`. */
  connect?(): Promise<unknown>;
  /** Adds a listener of `'ready'`, `'close'` (the connection is lost), `'end'` or `'error'`. */
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  /** Removes a listener. */
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  /** How many listeners an event has. */
  listenerCount(event: string): number;
  /**
   * Adds a Lua script as a method `name`, which takes so many keys, and then the arguments. It resolves with whole numbers,
   * strings and arrays of them. It rejects with an error named `ReplyError` if the server replies with an error.
   */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): unknown;
  /** The nodes of a cluster. Only a cluster has this method. */
  nodes?(): readonly object[];
}

/** Throws for anything but a RedisClient. */
export function checkRedisClient(redis: unknown): void {
  const expected = 'an ioredis Redis or Cluster, nodeRedis(client) or valkeyGlide(client)';
  check.methods('redis', redis, expected, ['defineCommand']);
}
