import type { Cluster, Redis } from 'ioredis';
import configure from '../../../lua/configure.lua';
import decide from '../../../lua/decide.lua';
import forget from '../../../lua/forget.lua';
import pause from '../../../lua/pause.lua';
import peek from '../../../lua/peek.lua';
import refund from '../../../lua/refund.lua';
import reserve from '../../../lua/reserve.lua';

/** What a script is called with: the keys first, then the arguments. */
type Parameter = string | number | Buffer;

/** A script as a command of a connection. */
export type Script = (keys: readonly string[], args: readonly Parameter[]) => Promise<unknown>;

/** The connections on which a call may leave: a cluster chooses one by the key. */
function socketsOf(redis: Redis | Cluster): Redis['stream'][] {
  return 'nodes' in redis ? redis.nodes().map(({ stream }) => stream) : [redis.stream];
}

/** Bytes that Redis reads at once. */
const enough = 16_384;

/**
 * Lets all that is called in this turn leave in one write: many limiters of one connection may be asked together. Each call
 * stays a command of its own, so that ioredis looks after each by itself: scripts that are not known, slots that move.
 */
function corked(redis: Redis | Cluster): void {
  for (const socket of socketsOf(redis)) {
    if (!socket?.cork) continue;
    if (socket.writableCorked > 0) {
      // A server that has this much to do need not wait for the rest.
      if (socket.writableLength >= enough) socket.uncork();
      else continue;
    } else globalThis.process.nextTick(() => socket.uncork());
    socket.cork();
  }
}

/** The scripts as commands of the caller's connection. */
export type Scripts = Record<
  'reserve' | 'refund' | 'decide' | 'peek' | 'configure' | 'pause' | 'forget',
  Script
>;

const texts: Record<keyof Scripts, string> = { reserve, refund, decide, peek, configure, pause, forget };

/** A short hash of a text (FNV-1a, 32 bits): two versions of this package can share one connection. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, '0');
}

/**
 * Lets ioredis send a command by itself where the connection has `enableAutoPipelining`: what this process asks for goes
 * in one call as it is, and a script that the server has forgotten fails the whole of an automatic pipeline.
 */
function keepOutOfPipelines({ options }: Redis | Cluster, command: string): void {
  if (!options?.enableAutoPipelining) return;
  options.autoPipeliningIgnoredCommands = [...(options.autoPipeliningIgnoredCommands ?? []), command];
}

/** A script as a command of the caller's connection. ioredis sends its hash, and its text where that is unknown. */
export function scriptOf(redis: Redis | Cluster, script: string, lua: string): Script {
  const commands = redis as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const name = `sluice_${script}_${hash(lua)}`;
  return (keys, args) => {
    // A command for each number of keys: its first argument is a key then, by which auto-pipelining finds the node.
    const command = `${name}_${keys.length}`;
    if (typeof commands[command] !== 'function') {
      keepOutOfPipelines(redis, command);
      redis.defineCommand(command, { lua, numberOfKeys: keys.length });
    }
    corked(redis);
    return commands[command](...keys, ...args);
  };
}

/** The scripts as commands of the caller's connection. */
export function scriptsOf(redis: Redis | Cluster): Scripts {
  const define = (script: keyof Scripts) => scriptOf(redis, script, texts[script]);
  return {
    reserve: define('reserve'),
    refund: define('refund'),
    decide: define('decide'),
    peek: define('peek'),
    configure: define('configure'),
    pause: define('pause'),
    forget: define('forget'),
  };
}
