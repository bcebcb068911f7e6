import type { Cluster, Redis } from 'ioredis';
import { corked } from './cork.ts';

/** Called with what Redis answered, or with why it did not. */
export type Answered = (error: unknown, answer?: unknown) => void;

/** What every call of a script for the same keys begins with, as Redis reads it: encoded once. */
export interface Opening {
  readonly args: readonly string[];
  readonly text: string;
  readonly keys: readonly string[];
}

/** Sends a script's call: what it begins with, and the numbers that follow. */
export type SendEncoded = (opening: Opening, rest: readonly number[], done: Answered) => void;

/** A script on a connection that takes encoded calls of it. */
export interface EncodedScript {
  /** Whether the server knows it, as far as is known here: only its hash is sent. */
  known: boolean;
  open(keys: readonly string[], args: readonly (string | number)[]): Opening;
  send: SendEncoded;
}

/** One word of a command, as Redis reads it. */
function encoded(word: string): string {
  return `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
}

/** Whole numbers from 0 on, as most arguments are. */
const small = Array.from({ length: 1_024 }, (_, n) => encoded(String(n)));

function encodedNumber(n: number): string {
  const known = small[n];
  if (known !== undefined) return known;
  const word = String(n);
  return `$${word.length}\r\n${word}\r\n`;
}

/** What is used of the class that a connection makes its commands of: its own one, whichever version of ioredis it is of. */
type CommandClass = new (...args: never[]) => object;

/** What a connection has beyond its types: the scripts that were defined on it. */
interface Defined {
  scriptsSet?: Record<string, { Command?: CommandClass; sha?: string } | undefined>;
  sendCommand?(command: object): unknown;
}

const senders = new WeakMap<object, SendEncoded>();

/**
 * The script of a command that was defined on a connection, for calls that are sent as they are: without a promise for each,
 * and without encoding again what never changes. Undefined where the connection changes what it sends, or is none of ioredis.
 */
export function encodedScript(redis: Redis | Cluster, command: string): EncodedScript | undefined {
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
  return {
    known: false,
    open: (keys, before) => {
      const args = [sha, keys.length, ...keys, ...before].map(String);
      return { args, keys, text: ['evalsha', ...args].map(encoded).join('') };
    },
    send,
  };
}

/** Sends commands of ioredis that answer without a promise. All else is as the connection's own class does it. */
function senderOf(redis: Redis | Cluster, base: CommandClass): SendEncoded {
  class EncodedCommand {
    readonly name = 'evalsha';
    readonly promise = undefined;
    readonly inTransaction = false;
    isTraced = false;
    isResolved = false;
    isSettled = false;
    _commandTimeoutTimer: NodeJS.Timeout | undefined = undefined;
    readonly #opening: Opening;
    readonly #rest: readonly number[];
    readonly #done: Answered;

    constructor(opening: Opening, rest: readonly number[], done: Answered) {
      this.#opening = opening;
      this.#rest = rest;
      this.#done = done;
    }

    /** For whoever looks at what is sent. */
    get args(): string[] {
      return [...this.#opening.args, ...this.#rest.map(String)];
    }

    getKeys(): readonly string[] {
      return this.#opening.keys;
    }

    toWritable(): string {
      const { args, text } = this.#opening;
      let written = `*${1 + args.length + this.#rest.length}\r\n${text}`;
      for (const n of this.#rest) written += encodedNumber(n);
      return written;
    }

    resolve(answer: unknown): void {
      this.#settle();
      this.isResolved = true;
      this.#done(null, Buffer.isBuffer(answer) ? answer.toString() : answer);
    }

    reject(error: unknown): void {
      this.#settle();
      // What cannot be sent is refused before the call returns: its caller hears of it later, as of every answer.
      Promise.resolve().then(() => this.#done(error));
    }

    #settle(): void {
      this.isSettled = true;
      if (this._commandTimeoutTimer === undefined) return;
      clearTimeout(this._commandTimeoutTimer);
      this._commandTimeoutTimer = undefined;
    }
  }
  Object.setPrototypeOf(EncodedCommand.prototype, base.prototype);
  return (opening, rest, done) => {
    corked(redis);
    (redis as Defined).sendCommand!(new EncodedCommand(opening, rest, done));
  };
}
