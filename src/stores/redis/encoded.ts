import type { Cluster, Redis } from 'ioredis';
import { corked } from './cork.ts';
import { encodedNumber, type Words, wordsOf } from './words.ts';

/** Receives the reply to a command, or an error. */
export interface Asker {
  answered(error: unknown, answer?: unknown): void;
}

/** A script on a connection that takes encoded calls. */
export interface EncodedScript {
  /** Whether the server is taken to know the script: only its hash is sent. */
  isKnown: boolean;
  /** Sends a call: the keys, the arguments that many calls share, and the numbers that follow. */
  send(keys: Words, shared: Words, numbers: readonly number[], asker: Asker): void;
}

/** What is used of the class of which a connection makes its commands: its own class, of any version of ioredis. */
type CommandClass = new (...args: never[]) => object;

/** What a connection has beyond its types: the scripts that were defined on it. */
interface Defined {
  scriptsSet?: Record<string, { Command?: CommandClass; sha?: string } | undefined>;
  sendCommand?(command: object): unknown;
}

/** Sends a command that begins with the words of a script: its hash, and the number of its keys. */
type Send = (script: Words, keys: Words, shared: Words, numbers: readonly number[], asker: Asker) => void;

const senders = new WeakMap<object, Send>();

/**
 * The script of a command that was defined on a connection, for calls without a promise, of which the constant arguments are
 * encoded once. Undefined if the connection changes what it sends, or is none of ioredis.
 */
export function encodedScript(
  redis: Redis | Cluster,
  command: string,
  keys: number,
): EncodedScript | undefined {
  const { options, scriptsSet, sendCommand } = redis as Partial<Redis> & Defined;
  const { Command, sha } = scriptsSet?.[command] ?? {};
  if (typeof Command !== 'function' || typeof sha !== 'string' || typeof sendCommand !== 'function')
    return undefined;
  if (options?.keyPrefix || options?.showFriendlyErrorStack) return undefined;
  let send = senders.get(redis);
  if (!send) {
    send = senderOf(redis, Object.getPrototypeOf(Command));
    senders.set(redis, send);
  }
  const script = wordsOf(['evalsha', sha, keys]);
  return { isKnown: false, send: send.bind(undefined, script) };
}

/** Sends commands of ioredis that reply without a promise. All else is as in the connection's own class. */
function senderOf(redis: Redis | Cluster, base: CommandClass): Send {
  class EncodedCommand {
    readonly name = 'evalsha';
    readonly promise = undefined;
    readonly inTransaction = false;
    isTraced = false;
    isResolved = false;
    isSettled = false;
    _commandTimeoutTimer: NodeJS.Timeout | undefined = undefined;
    readonly #script: Words;
    readonly #keys: Words;
    readonly #shared: Words;
    readonly #numbers: readonly number[];
    readonly #asker: Asker;

    constructor(script: Words, keys: Words, shared: Words, numbers: readonly number[], asker: Asker) {
      this.#script = script;
      this.#keys = keys;
      this.#shared = shared;
      this.#numbers = numbers;
      this.#asker = asker;
    }

    /** For tools that look at what is sent. */
    get args(): string[] {
      const [, ...script] = this.#script.words;
      return [...script, ...this.#keys.words, ...this.#shared.words, ...this.#numbers.map(String)];
    }

    getKeys(): readonly string[] {
      return this.#keys.words;
    }

    toWritable(): string {
      const count = this.#script.count + this.#keys.count + this.#shared.count + this.#numbers.length;
      let written = `*${count}\r\n${this.#script.encoded}${this.#keys.encoded}${this.#shared.encoded}`;
      for (const n of this.#numbers) written += encodedNumber(n);
      return written;
    }

    resolve(answer: unknown): void {
      this.#settle();
      this.isResolved = true;
      this.#asker.answered(null, Buffer.isBuffer(answer) ? answer.toString() : answer);
    }

    reject(error: unknown): void {
      this.#settle();
      // ioredis rejects a command that it cannot send before the call returns. The asker receives every answer later.
      Promise.resolve().then(() => this.#asker.answered(error));
    }

    #settle(): void {
      this.isSettled = true;
      if (this._commandTimeoutTimer === undefined) return;
      clearTimeout(this._commandTimeoutTimer);
      this._commandTimeoutTimer = undefined;
    }
  }
  Object.setPrototypeOf(EncodedCommand.prototype, base.prototype);
  return (...args) => {
    corked(redis);
    (redis as Defined).sendCommand!(new EncodedCommand(...args));
  };
}
