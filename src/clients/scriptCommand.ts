/** A key or an argument of a command. */
export type Argument = string | Buffer;

/** How a client runs a script. */
export interface ScriptRunner {
  /** Sends the hash of a script. */
  evalSha(hash: string, keys: string[], args: Argument[]): Promise<unknown>;
  /** Sends the text of a script. */
  eval(lua: string, keys: string[], args: Argument[]): Promise<unknown>;
  /** The error reply of the server that an error reports, or undefined if it reports another failure. */
  replyIn(error: unknown): string | undefined;
}

/** A script as a command: its hash is sent, and its text if the server does not know it. */
export function scriptCommand(
  runner: ScriptRunner,
  lua: string,
  numberOfKeys: number,
): (...words: (string | number | Buffer)[]) => Promise<unknown> {
  // The text is sent until the hash is known, or if there is no way to know it.
  let hash: string | undefined;
  sha1(lua).then(
    (known) => {
      hash = known;
    },
    () => {},
  );
  return async (...words) => {
    const args = words.map((word) => (typeof word === 'number' ? String(word) : word));
    const keys = args.splice(0, numberOfKeys).map(String);
    try {
      return await run(runner, hash, lua, keys, args);
    } catch (error) {
      const reply = runner.replyIn(error);
      throw reply === undefined ? error : replyError(reply, error);
    }
  };
}

async function run(
  runner: ScriptRunner,
  hash: string | undefined,
  lua: string,
  keys: string[],
  args: Argument[],
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
function replyError(message: string, cause: unknown): Error {
  return Object.assign(new Error(message, { cause }), { name: 'ReplyError' });
}

async function sha1(text: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
