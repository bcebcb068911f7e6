import type { RedisClient } from '../stores/redis/redisClient.ts';
import * as check from '../validate.ts';
import { addScript, replyError, type ScriptRunner } from './addScript.ts';

/** The part of a node-redis client (the package `redis`) that is used: of `createClient()` or `createCluster()`. */
export interface NodeRedisClient {
  /** Runs a script by its text. */
  eval(lua: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Runs a script by its hash. */
  evalSha(hash: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Whether `connect()` was called, and the client was not closed. */
  readonly isOpen: boolean;
  /** Whether commands are sent at once. A cluster of node-redis 5 lacks it, and is ready once it knows its masters. */
  readonly isReady?: boolean;
  /** The masters. Only a cluster has them. */
  readonly masters?: readonly unknown[];
  /** The options of a single client. */
  readonly options?: { readonly disableOfflineQueue?: boolean | undefined } | undefined;
  /** Adds a listener. */
  // biome-ignore lint/suspicious/noExplicitAny: listeners of all events
  on(event: string, listener: (...args: any[]) => void): unknown;
  /** Removes a listener. */
  // biome-ignore lint/suspicious/noExplicitAny: listeners of all events
  off(event: string, listener: (...args: any[]) => void): unknown;
  /** How many listeners an event has. */
  listenerCount(event: string): number;
  /** The same client with another mapping of replies to types. */
  withTypeMapping(mapping: Record<never, never>): unknown;
}

const adapters = new WeakMap<NodeRedisClient, RedisClient>();

/**
 * Adapts a client of node-redis 5 or 6 (the package `redis`), for use as the `redis` of a limiter.
 *
 * The client, of `createClient()` or `createCluster()`, stays yours to connect and to close. The adapter of one client is always
 * the same object, so that all its limiters are one client of the fleet.
 *
 * @param client the client, which may still be connecting
 * @returns the adapter, which `RateLimiter`, `RateLimiterGroup` and `RedissonRateLimiter` accept as `redis`
 * @throws TypeError for another object
 * @example
 * const client = createClient();
 * client.on('error', console.error);
 * await client.connect();
 * const limit = slidingWindow({ permits: 100, interval: 1_000 });
 * const limiter = new RateLimiter({ name: 'stripe', limit, redis: nodeRedis(client) });
 */
export function nodeRedis(client: NodeRedisClient): RedisClient {
  check.methods('client', client, 'a client of node-redis 5 or newer', ['evalSha', 'on', 'withTypeMapping']);
  const known = adapters.get(client) ?? new NodeRedis(client);
  adapters.set(client, known);
  return known;
}

type Listener = (...args: unknown[]) => void;

class NodeRedis implements RedisClient {
  readonly #client: NodeRedisClient;
  readonly #runner: ScriptRunner;
  /** The names of events that differ from those of ioredis. */
  readonly #events: Record<string, string | undefined>;
  /** Resolves when a cluster is connected for the first time: until then, it rejects commands. A single client queues them. */
  #opening: Promise<unknown> | undefined;
  /** The listeners of errors as they were added to the client: each passes errors on as ioredis reports them. */
  readonly #ofErrors = new WeakMap<Listener, Listener>();
  #wasOpen = false;
  #hasFailed = false;
  readonly nodes?: () => [];

  constructor(client: NodeRedisClient) {
    this.#client = client;
    // Replies of the default types, whatever the application maps them to.
    const scripts = client.withTypeMapping({}) as NodeRedisClient;
    this.#runner = {
      eval: (lua, keys, args) => scripts.eval(lua, { keys, arguments: args }),
      evalSha: (hash, keys, args) => scripts.evalSha(hash, { keys, arguments: args }),
      replyIn,
      opening: () => (client.isOpen ? this.#opening : undefined),
    };
    if (client.masters) {
      this.#events = { ready: 'connect', end: 'disconnect' };
      if (this.status !== 'ready')
        this.#opening = new Promise<void>((resolve) => {
          client.on('connect', () => {
            this.#opening = undefined;
            resolve();
          });
        });
      this.nodes = () => [];
    } else {
      this.#events = { close: 'reconnecting' };
      client.on('reconnecting', () => {
        this.#hasFailed = true;
      });
    }
  }

  get status(): string {
    const { isOpen, masters } = this.#client;
    const { isReady = isOpen && masters?.length !== 0 } = this.#client;
    this.#wasOpen ||= isOpen;
    if (isReady) return 'ready';
    if (isOpen) return this.#hasFailed ? 'reconnecting' : 'connecting';
    return this.#wasOpen ? 'end' : 'connecting';
  }

  /** The same option as that of ioredis: whether calls may wait until the client reports that it is ready. A sentinel may not. */
  get options(): { enableOfflineQueue: boolean } {
    const { isOpen, masters, options } = this.#client;
    const reports = masters ? this.#opening !== undefined : options && !options.disableOfflineQueue;
    return { enableOfflineQueue: isOpen && reports === true };
  }

  on(event: string, listener: Listener): void {
    let added = listener;
    if (event === 'error') {
      added = this.#ofErrors.get(listener) ?? ((error) => listener(withReply(error)));
      this.#ofErrors.set(listener, added);
    }
    this.#client.on(this.#events[event] ?? event, added);
  }

  off(event: string, listener: Listener): void {
    this.#client.off(this.#events[event] ?? event, this.#ofErrors.get(listener) ?? listener);
  }

  listenerCount(event: string): number {
    return this.#client.listenerCount(this.#events[event] ?? event);
  }

  defineCommand(name: string, definition: Parameters<RedisClient['defineCommand']>[1]): void {
    addScript(this, name, definition, this.#runner);
  }
}

/**
 * Error replies begin with a code in capitals, as no other error of node-redis does. Their class is no help: an application may
 * have several copies of it, under shortened names.
 */
function replyIn(error: unknown): string | undefined {
  const { message } = error as Error;
  return /^[A-Z]+ /.test(message) ? message : undefined;
}

/** An error as ioredis reports it. */
function withReply(error: unknown): unknown {
  const reply = replyIn(error);
  return reply === undefined ? error : replyError(reply, error);
}
