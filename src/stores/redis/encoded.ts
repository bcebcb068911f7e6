import type { Cluster, Redis } from 'ioredis';
import { corked } from './cork.ts';

/** Hears what Redis answered, or why it did not. */
export interface Asker {
  answered(error: unknown, answer?: unknown): void;
}

/** What every call of a script for the same keys begins with, as Redis reads it: encoded once. */
export interface Opening {
  /** The keys, and the arguments before those that differ. */
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
  readonly text: string;
}

/** A script on a connection that takes encoded calls of it. */
export interface EncodedScript {
  /** Whether the server knows it, as far as is known here: only its hash is sent. */
  known: boolean;
  /** Sends a call: what it begins with, and the numbers that follow. */
  send(opening: Opening, rest: readonly number[], asker: Asker): void;
}

/** One word of a command, as Redis reads it. */
export function encoded(word: string): string {
  return `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
}

/** Whole numbers from 0 on, as most arguments are. */
const small = /* @__PURE__ */ Array.from({ length: 1_024 }, (_, n) => encoded(String(n)));

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

/** Sends a command of a script: its hash and the number of its keys, what the call begins with, and the rest. */
type Send = (head: Opening, opening: Opening, rest: readonly number[], asker: Asker) => void;

const senders = new WeakMap<object, Send>();

/**
 * The script of a command that was defined on a connection, for calls that are sent as they are: without a promise for each,
 * and without encoding again what never changes. Undefined where the connection changes what it sends, or is none of ioredis.
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
  const args = [sha, keys];
  const head = { keys: [], args, text: ['evalsha', ...args].map((word) => encoded(String(word))).join('') };
  const toSend = send;
  return {
    known: false,
    send: (opening, rest, asker) => toSend(head, opening, rest, asker),
  };
}

/** Sends commands of ioredis that answer without a promise. All else is as the connection's own class does it. */
function senderOf(redis: Redis | Cluster, base: CommandClass): Send {
  class EncodedCommand {
    readonly name = 'evalsha';
    readonly promise = undefined;
    readonly inTransaction = false;
    isTraced = false;
    isResolved = false;
    isSettled = false;
    _commandTimeoutTimer: NodeJS.Timeout | undefined = undefined;
    readonly #head: Opening;
    readonly #opening: Opening;
    readonly #rest: readonly number[];
    readonly #asker: Asker;

    constructor(head: Opening, opening: Opening, rest: readonly number[], asker: Asker) {
      this.#head = head;
      this.#opening = opening;
      this.#rest = rest;
      this.#asker = asker;
    }

    /** For whoever looks at what is sent. */
    get args(): string[] {
      const { keys, args } = this.#opening;
      return [...this.#head.args, ...keys, ...args, ...this.#rest].map(String);
    }

    getKeys(): readonly string[] {
      return this.#opening.keys;
    }

    toWritable(): string {
      const { keys, args, text } = this.#opening;
      // The command, its hash, and the number of keys come before them.
      const words = 3 + keys.length + args.length + this.#rest.length;
      let written = `*${words}\r\n${this.#head.text}${text}`;
      for (const n of this.#rest) written += encodedNumber(n);
      return written;
    }

    resolve(answer: unknown): void {
      this.#settle();
      this.isResolved = true;
      this.#asker.answered(null, Buffer.isBuffer(answer) ? answer.toString() : answer);
    }

    reject(error: unknown): void {
      this.#settle();
      // What cannot be sent is refused before the call returns: its caller hears of it later, as of every answer.
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
  return (head, opening, rest, asker) => {
    corked(redis);
    (redis as Defined).sendCommand!(new EncodedCommand(head, opening, rest, asker));
  };
}
