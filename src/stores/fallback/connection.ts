/** What the fallback needs of an ioredis `Redis` or `Cluster`. */
export interface RedisConnection {
  readonly status: string;
  connect(): Promise<unknown>;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  listenerCount(event: string): number;
}

/** Who waits for the connection to come up, or for an answer over it. */
export interface Watcher {
  ready(): void;
  lost(reason: Error): void;
}

const connections = new WeakMap<RedisConnection, Connection>();

/** One for all who ask for it: many limiters of one connection listen to it once. */
export function connectionOf(redis: RedisConnection): Connection {
  const connection = connections.get(redis) ?? new Connection(redis);
  connections.set(redis, connection);
  return connection;
}

/**
 * Whether calls leave at once: what is called before, ioredis would keep, and send late.
 *
 * It listens only while somebody watches.
 */
export class Connection {
  readonly #redis: RedisConnection;
  readonly #watchers = new Set<Watcher>();
  #wasReady = false;
  #reason: Error | undefined;

  constructor(redis: RedisConnection) {
    this.#redis = redis;
  }

  get ready(): boolean {
    const ready = this.#redis.status === 'ready';
    this.#wasReady ||= ready;
    if (ready) this.#reason = undefined;
    return ready;
  }

  /** Whether it comes up for the first time, and has not failed. */
  get starts(): boolean {
    return !this.#wasReady && ['wait', 'connecting', 'connect'].includes(this.#redis.status);
  }

  /** Why no call leaves now. */
  get reason(): Error {
    return this.#reason ?? new Error(`the connection is not ready (${this.#redis.status})`);
  }

  watch(watcher: Watcher): void {
    if (this.#watchers.size === 0) this.#listen();
    this.#watchers.add(watcher);
    // A connection that is lazy waits for somebody who calls; whether it comes up, its events say.
    if (this.#redis.status === 'wait') this.#redis.connect().catch(() => {});
  }

  unwatch(watcher: Watcher): void {
    if (this.#watchers.delete(watcher) && this.#watchers.size === 0) this.#unlisten();
  }

  #listen(): void {
    this.#redis.on('ready', this.#onReady);
    for (const event of ['close', 'end']) this.#redis.on(event, this.#onLost);
    // ioredis prints the errors that nobody listens to: it must go on doing so.
    if (this.#redis.listenerCount('error') > 0) this.#redis.on('error', this.#onError);
  }

  #unlisten(): void {
    this.#redis.off('ready', this.#onReady);
    for (const event of ['close', 'end']) this.#redis.off(event, this.#onLost);
    this.#redis.off('error', this.#onError);
  }

  readonly #onError = (error: unknown): void => {
    if (error instanceof Error) this.#reason = error;
  };

  readonly #onReady = (): void => {
    for (const watcher of this.#watchers) watcher.ready();
  };

  readonly #onLost = (): void => {
    const reason = this.#reason ?? new Error('the connection was lost');
    for (const watcher of this.#watchers) watcher.lost(reason);
  };
}
