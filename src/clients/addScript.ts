import type { RedisClient } from '../stores/redis/redisClient.ts';

/** How a client runs a script. Keys and arguments may also be bytes, whatever their type says: all clients accept both. */
export interface ScriptRunner {
  /** Sends the hash of a script. */
  evalSha(hash: string, keys: string[], args: string[]): Promise<unknown>;
  /** Sends the text of a script. */
  eval(lua: string, keys: string[], args: string[]): Promise<unknown>;
  /** The error reply of the server that an error reports, or undefined if it reports another failure. */
  replyIn(error: unknown): string | undefined;
  /** Settles when the first connection is open, if the client would reject a command now. */
  opening?(): Promise<unknown> | undefined;
}

/** Adds a script to an adapter as a method: it sends the hash, and the text if the server does not know the script. */
export function addScript(
  adapter: RedisClient,
  name: string,
  { lua, numberOfKeys = 0 }: Parameters<RedisClient['defineCommand']>[1],
  runner: ScriptRunner,
): void {
  // The text is sent until the hash is known, or always if the hash cannot be computed.
  let hash: string | undefined;
  sha1(lua).then(
    (known) => {
      hash = known;
    },
    () => {},
  );
  const call = async (...words: (string | number)[]) => {
    const args = words.map((word) => (typeof word === 'number' ? String(word) : word));
    const keys = args.splice(0, numberOfKeys);
    try {
      const opening = runner.opening?.();
      if (opening) await opening;
      return await run(runner, hash, lua, keys, args);
    } catch (error) {
      const reply = runner.replyIn(error);
      throw reply === undefined ? noReply(error) : replyError(reply, error);
    }
  };
  Object.assign(adapter, { [name]: call });
}

async function run(
  runner: ScriptRunner,
  hash: string | undefined,
  lua: string,
  keys: string[],
  args: string[],
): Promise<unknown> {
  if (hash === undefined) return runner.eval(lua, keys, args);
  try {
    return await runner.evalSha(hash, keys, args);
  } catch (error) {
    if (!runner.replyIn(error)?.startsWith('NOSCRIPT')) throw error;
    return runner.eval(lua, keys, args);
  }
}

/** An error reply as ioredis reports it. */
export function replyError(message: string, cause: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name: 'ReplyError' });
}

/** A failure without a reply, whatever the class of its error: node-redis 5 may fail with a TypeError of its own. */
function noReply(cause: unknown): Error {
  const { message, name } = cause as Error;
  return new Error(message || name, { cause });
}

async function sha1(text: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
