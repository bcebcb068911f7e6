import type { Cluster, Redis } from 'ioredis';
import configure from '../../../lua/configure.lua';
import decide from '../../../lua/decide.lua';
import decideMany from '../../../lua/decide-many.lua';
import forget from '../../../lua/forget.lua';
import pause from '../../../lua/pause.lua';
import refund from '../../../lua/refund.lua';
import reserve from '../../../lua/reserve.lua';
import { corked } from './cork.ts';
import { decisionsOf } from './decisions.ts';
import { type EncodedScript, encodedScript } from './encoded.ts';
import { isRefusedBy } from './errors.ts';
import type { RedisClient } from './redisClient.ts';
import type { Script } from './script.ts';

const texts = { reserve, refund, decide, decideMany, configure, pause, forget };

/** The scripts as commands of the caller's connection. */
export type Scripts = Record<keyof typeof texts, Script>;

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
export function scriptOf(redis: RedisClient, script: string, lua: string): Script {
  const commands = redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const name = `sluice_${script}_${hash(lua)}`;
  // One command for each number of keys: its first argument is then a key, by which auto-pipelining finds the node.
  const commandFor = (keys: number) => `${name}_${keys}`;
  const encoded = new Map<number, EncodedScript>();
  const call: Script = (keys, args) => {
    const command = commandFor(keys.length);
    if (typeof commands[command] !== 'function') {
      keepOutOfPipelines(redis, command);
      redis.defineCommand(command, { lua, numberOfKeys: keys.length });
    }
    corked(redis);
    const answer = commands[command](...keys, ...args);
    return call.errorOf ? answer.catch((error) => Promise.reject(call.errorOf!(error))) : answer;
  };
  call.encoded = (keys) => {
    const known = encoded.get(keys) ?? encodedScript(redis, commandFor(keys), keys);
    if (known) encoded.set(keys, known);
    return known;
  };
  const cluster = redis as Partial<Cluster>;
  if (cluster.refreshSlotsCache)
    call.errorOf = (error) => {
      if (!isRefusedBy('READONLY', error)) return error;
      cluster.refreshSlotsCache!();
      return new Error(`MOVED: ${error.message}`);
    };
  return call;
}

/** The scripts of these texts, each under its name behind `prefix`. */
export function definedScripts<Name extends string>(
  redis: RedisClient,
  texts: Readonly<Record<Name, string>>,
  prefix = '',
): Record<Name, Script> {
  const scripts = Object.entries<string>(texts).map(([name, lua]) => [
    name,
    scriptOf(redis, prefix + name, lua),
  ]);
  return Object.fromEntries(scripts) as Record<Name, Script>;
}

const handles = new WeakMap<object, Scripts>();

/** The scripts as commands of the caller's connection: the same for all limiters of it. */
export function scriptsOf(redis: RedisClient): Scripts {
  const known = handles.get(redis);
  if (known) return known;
  const scripts = definedScripts(redis, texts);
  // One call has the keys of several limiters: not in a cluster, nor behind a proxy that distributes keys and looks at the first
  // one of a call only. Such a proxy does not pass INFO on, so that ioredis can have no ready check.
  const { options } = redis as Partial<Redis>;
  if (options?.enableReadyCheck && !redis.nodes) scripts.decide.shared = decisionsOf(scripts.decideMany);
  handles.set(redis, scripts);
  return scripts;
}
