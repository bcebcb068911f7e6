import type { Redis } from 'ioredis';
import { corked } from './cork.ts';
import type { RedisClient } from './redisClient.ts';
import { encodedNumber, type Words, wordsOf } from './words.ts';

/** Receives the reply to a command, or an error. */
export interface Asker {
  answered(error: unknown, answer?: unknown): void;
}

/** A script on a connection that takes encoded calls. */
export interface EncodedScript {
  /** Whether the server is assumed to know the script, so that only its hash is sent. */
  isKnown: boolean;
  /** Sends a call: the keys, the arguments that many calls share, and the numbers that follow. */
  send(keys: Words, shared: Words, numbers: readonly number[], asker: Asker): void;
}

/** The class of a connection's commands. It is the connection's own, as there may be several versions of ioredis. */
type CommandClass = new (...args: never[]) => object;

/** Members of a connection that its types leave out, such as the scripts that were defined on it. */
interface Defined {
  scriptsSet?: Record<string, { Command?: CommandClass; sha?: string } | undefined>;
  sendCommand?(command: object): unknown;
}

type Send = (call: Sent, asker: Asker) => void;

/** A call as it was sent. */
interface Sent {
  /** The hash of the script, and the number of its keys. */
  script: Words;
  keys: Words;
  shared: Words;
  numbers: readonly number[];
  text: string;
}

const senders = new WeakMap<object, Send>();

/**
 * The script of a command that was defined on a connection. Its calls create no promise, and constant arguments are encoded
 * once. Undefined if the connection changes its commands before it sends them, or does not belong to ioredis.
 */
export function encodedScript(redis: RedisClient, command: string, keys: number): EncodedScript | undefined {
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
  return new KnownScript(wordsOf(['evalsha', sha, keys]), send);
}

class KnownScript implements EncodedScript {
  readonly #script: Words;
  readonly #send: Send;
  /** A limiter makes the same call again and again: its text is kept. */
  #last: Sent | undefined;
  isKnown = false;

  constructor(script: Words, send: Send) {
    this.#script = script;
    this.#send = send;
  }

  send(keys: Words, shared: Words, numbers: readonly number[], asker: Asker): void {
    let call = this.#last;
    if (call?.keys !== keys || call.shared !== shared || !areSame(call.numbers, numbers)) {
      const script = this.#script;
      const count = script.count + keys.count + shared.count + numbers.length;
      let text = `*${count}\r\n${script.encoded}${keys.encoded}${shared.encoded}`;
      for (const n of numbers) text += encodedNumber(n);
      call = { script, keys, shared, numbers, text };
      this.#last = call;
    }
    this.#send(call, asker);
  }
}

function areSame(a: readonly number[], b: readonly number[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Converts texts in a reply to strings: a script sends a number as text if a client's parser might round it. */
function textOf(item: unknown): unknown {
  if (Array.isArray(item)) return item.map(textOf);
  return Buffer.isBuffer(item) ? item.toString() : item;
}

/**
 * Returns a function that sends commands which reply without a promise. Otherwise they behave like commands of the
 * connection's own class.
 */
function senderOf(redis: RedisClient, base: CommandClass): Send {
  class EncodedCommand {
    readonly name = 'evalsha';
    readonly promise = undefined;
    readonly inTransaction = false;
    isTraced = false;
    isResolved = false;
    isSettled = false;
    _commandTimeoutTimer: NodeJS.Timeout | undefined = undefined;
    readonly #call: Sent;
    readonly #asker: Asker;

    constructor(call: Sent, asker: Asker) {
      this.#call = call;
      this.#asker = asker;
    }

    /** For tools that inspect commands. */
    get args(): string[] {
      const { script, keys, shared, numbers } = this.#call;
      return [...script.words.slice(1), ...keys.words, ...shared.words, ...numbers.map(String)];
    }

    getKeys(): readonly string[] {
      return this.#call.keys.words;
    }

    toWritable(): string {
      return this.#call.text;
    }

    resolve(answer: unknown): void {
      this.#settle();
      this.isResolved = true;
      this.#asker.answered(null, textOf(answer));
    }

    reject(error: unknown): void {
      this.#settle();
      // ioredis rejects a command that it cannot send, before `send` returns. The asker expects every reply later.
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
  return (call, asker) => {
    corked(redis);
    (redis as Defined).sendCommand!(new EncodedCommand(call, asker));
  };
}
