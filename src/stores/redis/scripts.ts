import type { Redis } from 'ioredis';
import configure from '../../../lua/configure.lua';
import decide from '../../../lua/decide.lua';
import forget from '../../../lua/forget.lua';
import pause from '../../../lua/pause.lua';
import peek from '../../../lua/peek.lua';
import refund from '../../../lua/refund.lua';
import reserve from '../../../lua/reserve.lua';
import { corked } from './cork.ts';
import { type EncodedScript, encodedScript } from './encoded.ts';
import type { RedisClient } from './redisClient.ts';

/** A key or an argument of a script. */
type Parameter = string | number | Buffer;

/** A script as a command of a connection. */
export interface Script {
  (keys: readonly string[], args: readonly Parameter[]): Promise<unknown>;
  /** Whether the script receives the client before the limits, as those do that have a fast path. */
  readonly takesClient: boolean;
  /** The script with so many keys for encoded calls, if the connection takes them. */
  encoded?(keys: number): EncodedScript | undefined;
}

/** The scripts as commands of the caller's connection. */
export type Scripts = Record<
  'reserve' | 'refund' | 'decide' | 'peek' | 'configure' | 'pause' | 'forget',
  Script
>;

const texts: Record<keyof Scripts, string> = { reserve, refund, decide, peek, configure, pause, forget };

const hashes = new Map<string, string>();

/** A short hash of a text (FNV-1a, 32 bits): two versions of this package can share one connection. */
function hash(text: string): string {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  const short = (value >>> 0).toString(16).padStart(8, '0');
  hashes.set(text, short);
  return short;
}

/**
 * Excludes a command from the automatic pipelines of `enableAutoPipelining`: a script that the server has forgotten would fail
 * the whole pipeline, and the requests of a process go in one call anyway.
 */
function keepOutOfPipelines(redis: RedisClient, command: string): void {
  const { options } = redis as Partial<Redis>;
  if (!options?.enableAutoPipelining) return;
  options.autoPipeliningIgnoredCommands = [...(options.autoPipeliningIgnoredCommands ?? []), command];
}

/** A script as a command of the caller's connection. ioredis sends its hash, and its text if the server does not know it. */
export function scriptOf(redis: RedisClient, script: string, lua: string, takesClient = false): Script {
  const commands = redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const name = `sluice_${script}_${hash(lua)}`;
  // One command for each number of keys: its first argument is then a key, by which auto-pipelining finds the node.
  const commandFor = (keys: number) => `${name}_${keys}`;
  const encoded = new Map<number, EncodedScript>();
  const call = (keys: readonly string[], args: readonly Parameter[]) => {
    const command = commandFor(keys.length);
    if (typeof commands[command] !== 'function') {
      keepOutOfPipelines(redis, command);
      redis.defineCommand(command, { lua, numberOfKeys: keys.length });
    }
    corked(redis);
    return commands[command](...keys, ...args);
  };
  const encodedWith = (keys: number) => {
    const known = encoded.get(keys) ?? encodedScript(redis, commandFor(keys), keys);
    if (known) encoded.set(keys, known);
    return known;
  };
  return Object.assign(call, { takesClient, encoded: encodedWith });
}

const handles = new WeakMap<object, Scripts>();

/** The scripts as commands of the caller's connection: the same for all limiters of it. */
export function scriptsOf(redis: RedisClient): Scripts {
  const known = handles.get(redis);
  if (known) return known;
  const define = (script: keyof Scripts, takesClient?: boolean) =>
    scriptOf(redis, script, texts[script], takesClient);
  const scripts: Scripts = {
    reserve: define('reserve', true),
    refund: define('refund'),
    decide: define('decide', true),
    peek: define('peek'),
    configure: define('configure'),
    pause: define('pause'),
    forget: define('forget'),
  };
  handles.set(redis, scripts);
  return scripts;
}
