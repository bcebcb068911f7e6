import type { RedisClient } from '../stores/redis/redisClient.ts';
import * as check from '../validate.ts';
import { addScript, type ScriptRunner } from './addScript.ts';

/** The part of a client of Valkey GLIDE that is used: of a `GlideClient` or a `GlideClusterClient`. */
export interface ValkeyGlideClient {
  /** Sends a command. */
  customCommand(words: string[], options: { decoder: number }): Promise<unknown>;
  /** Only a client of a cluster has it. */
  readonly invokeScriptWithRoute?: unknown;
}

/** `Decoder.Bytes`, whatever the client's default is: its decoder of texts fails if a damaged key makes a reply invalid UTF-8. */
const decoderBytes = 0;

const adapters = new WeakMap<ValkeyGlideClient, RedisClient>();

/**
 * Adapts a client of Valkey GLIDE (the package `@valkey/valkey-glide`), for use as the `redis` of a limiter.
 *
 * The client, a `GlideClient` or a `GlideClusterClient`, stays yours to close. It reports no loss of its connection: a call fails
 * after the client's `requestTimeout`, or the limiter's own. The adapter of one client is always the same object, so that all its
 * limiters are one client of the fleet.
 *
 * @param client the client
 * @returns the adapter, which `RateLimiter`, `RateLimiterGroup` and `RedissonRateLimiter` accept as `redis`
 * @throws TypeError for another object
 * @example
 * const client = await GlideClient.createClient({ addresses: [{ host: 'localhost' }] });
 * const limit = slidingWindow({ permits: 100, interval: 1_000 });
 * const limiter = new RateLimiter({ name: 'stripe', limit, redis: valkeyGlide(client) });
 */
export function valkeyGlide(client: ValkeyGlideClient): RedisClient {
  check.methods('client', client, 'a client of Valkey GLIDE', ['customCommand']);
  const known = adapters.get(client) ?? new ValkeyGlide(client);
  adapters.set(client, known);
  return known;
}

class ValkeyGlide implements RedisClient {
  /** The client does not tell whether it is connected. A command waits for that no longer than its `requestTimeout`. */
  readonly status = 'ready';
  readonly #runner: ScriptRunner;
  readonly nodes?: () => [];

  constructor(client: ValkeyGlideClient) {
    const send = async (name: string, script: string, keys: string[], args: string[]) => {
      const words = [name, script, String(keys.length), ...keys, ...args];
      return textOf(await client.customCommand(words, { decoder: decoderBytes }));
    };
    this.#runner = {
      eval: (lua, keys, args) => send('EVAL', lua, keys, args),
      evalSha: (hash, keys, args) => send('EVALSHA', hash, keys, args),
      replyIn,
    };
    if (client.invokeScriptWithRoute) this.nodes = () => [];
  }

  on(): void {}

  off(): void {}

  listenerCount(): number {
    return 0;
  }

  defineCommand(name: string, definition: Parameters<RedisClient['defineCommand']>[1]): void {
    addScript(this, name, definition, this.#runner);
  }
}

/** The codes of error replies that the client names otherwise. */
const codes: Record<string, string | undefined> = {
  ResponseError: 'ERR',
  NoScriptError: 'NOSCRIPT',
  BusyLoadingError: 'LOADING',
  PermissionDenied: 'NOPERM',
};

/** A reply with texts in the places of bytes, as other clients return it. */
function textOf(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(textOf);
  return reply instanceof Uint8Array ? new TextDecoder().decode(reply) : reply;
}

/** The error reply in the words of the server, such as `NOSCRIPT No matching script`. */
function replyIn(error: unknown): string | undefined {
  const pattern = /^(?:An error was signalled by the server: - (\w+)|([A-Z]+)): (.*)/s;
  const [, kind, code, text] = pattern.exec((error as Error).message) ?? [];
  if (text === undefined) return undefined;
  return `${code ?? codes[kind] ?? kind.toUpperCase()} ${text}`;
}
