import type { Redis, RedisOptions } from 'ioredis';
import type { RedisClient } from './redisClient.ts';

/** The members of a client that are needed to follow its connection. */
export type RedisConnection = Omit<RedisClient, 'defineCommand' | 'nodes'>;

/** Is called when the connection is ready, and when it is lost. */
export interface Watcher {
  ready(): void;
  lost(reason: Error): void;
}

/** The states in which a client may still open its connection, perhaps after it has noticed that it is lost. */
const opening = ['wait', 'connecting', 'connect', 'ready', 'reconnecting', 'disconnecting', 'close'];

const connections = new WeakMap<RedisConnection, Connection>();

/** Returns the connection of a client. All stores of one client share it, so that many limiters add its listeners once. */
export function connectionOf(redis: RedisConnection): Connection {
  const connection = connections.get(redis) ?? new Connection(redis);
  connections.set(redis, connection);
  return connection;
}

/** The state of an ioredis connection. It has listeners only while it has watchers. */
export class Connection {
  readonly #redis: RedisConnection;
  readonly #watchers = new Set<Watcher>();
  #wasReady = false;
  #error: Error | undefined;

  constructor(redis: RedisConnection) {
    this.#redis = redis;
  }

  /** Whether the client sends a call at once. ioredis queues calls already when its socket is closed. */
  get ready(): boolean {
    const { status, stream } = this.#redis as RedisConnection & Partial<Redis>;
    const ready = status === 'ready' && stream?.writable !== false;
    this.#wasReady ||= ready;
    if (ready) this.#error = undefined;
    return ready;
  }

  /** Whether it is being opened for the first time, and has not failed. */
  get starts(): boolean {
    return !this.#wasReady && ['wait', 'connecting', 'connect'].includes(this.#redis.status);
  }

  /** Whether the client makes no further attempt to connect. */
  get hasEnded(): boolean {
    return this.#redis.status === 'end';
  }

  /** Whether the client, while the connection is not ready, queues a call rather than rejecting it at once. */
  get queues(): boolean {
    return this.#options.enableOfflineQueue !== false && opening.includes(this.#redis.status);
  }

  /** Whether the client gives up a call that waits, after so many losses or failed attempts. */
  givesUpAfter(losses: number): boolean {
    const most = this.#options.maxRetriesPerRequest ?? -1;
    return !this.queues || (most >= 0 && losses > most);
  }

  /** Whether ioredis drops the calls without a reply when the connection is lost, without an error. */
  get dropsCalls(): boolean {
    return this.#options.autoResendUnfulfilledCommands === false;
  }

  get #options(): RedisOptions {
    return (this.#redis as RedisConnection & { options?: RedisOptions }).options ?? {};
  }

  /** Why it is not ready. */
  get reason(): Error {
    const { status } = this.#redis;
    const state = status === 'ready' ? 'was lost' : `is not ready (${status})`;
    return this.#error ?? new Error(`the connection ${state}`);
  }

  watch(watcher: Watcher): void {
    if (this.#watchers.size === 0) {
      // An earlier one may have been mended meanwhile.
      this.#error = undefined;
      this.#listen();
    }
    this.#watchers.add(watcher);
    // A lazy connection is opened by its first call. Its events report a failure.
    if (this.#redis.status === 'wait') this.#redis.connect?.().catch(() => {});
  }

  unwatch(watcher: Watcher): void {
    if (this.#watchers.delete(watcher) && this.#watchers.size === 0) this.#unlisten();
  }

  #listen(): void {
    // ioredis prints an error if it has no listener. This listener must not be the only one, or it would print none.
    if (this.#redis.listenerCount('error') > 0) this.#redis.on('error', this.#onError);
    this.#redis.on('ready', this.#onReady);
    for (const event of ['close', 'end']) this.#redis.on(event, this.#onLost);
  }

  #unlisten(): void {
    this.#redis.off('ready', this.#onReady);
    for (const event of ['close', 'end']) this.#redis.off(event, this.#onLost);
    this.#redis.off('error', this.#onError);
  }

  readonly #onError = (error: unknown): void => {
    if (error instanceof Error) this.#error = error;
    // node-redis emits nothing else when it makes no further attempt.
    if (this.#redis.status === 'end') this.#onLost();
  };

  readonly #onReady = (): void => {
    for (const watcher of [...this.#watchers]) watcher.ready();
  };

  readonly #onLost = (): void => {
    const reason = this.#error ?? new Error('the connection was lost');
    // A copy, as one that fails its calls may watch again for the next ones: these wait for the next attempt.
    for (const watcher of [...this.#watchers]) watcher.lost(reason);
  };
}
