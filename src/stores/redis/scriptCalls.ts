import { StoreError } from '../../errors.ts';
import type { Limit } from '../../limits/limit.ts';
import type { Reply } from '../store.ts';
import { type Answer, answerOf } from './answers.ts';
import type { Answered, EncodedScript, Opening } from './encoded.ts';
import { errorOf } from './errors.ts';
import type { Script } from './scripts.ts';
import { limitsOf, numbersOf } from './spec.ts';

/** So often a call is made again because another rate was stored since: somebody changes it without end. */
const mostChanges = 16;

/** ioredis sends a script's text where Redis does not know it; where it is flushed again meanwhile, the call is made again. */
const mostTries = 4;

type Argument = string | number;

/** The limits in force, as far as they are known, and as the scripts are told of them. */
export interface KnownRate {
  readonly limits: readonly Limit[];
  readonly spec: string;
  readonly stored: boolean;
}

/** A script of one ledger that works under the limits in force. */
export class LimitedScript {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly #before: readonly string[];
  readonly #isQuick: boolean;
  #opening: Opening | undefined;
  #openedUnder: KnownRate | undefined;

  /** `before` is what the script is given before the limits. One with a quick way is told the numbers of an only limit, too. */
  constructor(script: Script, keys: readonly string[], before: readonly string[], isQuick = false) {
    this.script = script;
    this.keys = keys;
    this.#before = before;
    this.#isQuick = isQuick;
  }

  get encoded(): EncodedScript | undefined {
    return this.script.encoded?.(this.keys.length);
  }

  /** The arguments that a call under a rate begins with. */
  argsUnder({ limits, spec, stored }: KnownRate): Argument[] {
    const numbers = this.#isQuick ? numbersOf(spec, limits) : [];
    return [...this.#before, spec, stored ? 1 : 0, ...numbers];
  }

  /** The same with the script and its keys, encoded. */
  openingUnder(rate: KnownRate, encoded: EncodedScript): Opening {
    if (this.#opening && this.#openedUnder === rate) return this.#opening;
    this.#openedUnder = rate;
    this.#opening = encoded.open(this.keys, this.argsUnder(rate));
    return this.#opening;
  }
}

/** Who calls the scripts for. */
export interface Caller {
  /** The limiter's name, for messages. */
  name: string;
  names: readonly string[];
  own: KnownRate;
  /** The key of what is stored for all clients, for messages. */
  control: string;
  /** For tests alone, which compare the scripts with their twins at the same time: microseconds. */
  serverTime?: (() => number) | undefined;
}

/**
 * Calls the scripts of one limiter.
 *
 * It says with each call which limits it takes to be in force; where others are, the script does nothing but name them,
 * and the call is made again under those.
 */
export class ScriptCalls {
  readonly #caller: Caller;
  /** The rate in force, as far as it is known. */
  rate: KnownRate;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.rate = caller.own;
  }

  /** Takes a stored rate to be in force, as the text that a script has named; the limiter's own for an empty list. */
  follow(text: string): void {
    if (this.rate.stored && this.rate.spec === text) return;
    const limits = limitsOf(this.#caller.names, text, this.#caller.control);
    this.rate = limits ? { limits, spec: text, stored: true } : this.#caller.own;
  }

  /** Calls a script under the limits in force, and hands on what `read` makes of its answer, or an error of ours. */
  call<T>(
    script: LimitedScript,
    after: readonly number[],
    read: (answer: number[] | number) => T,
    reply: Reply<T>,
    changes = 0,
  ): void {
    const { rate } = this;
    const { serverTime } = this.#caller;
    const rest = serverTime ? [...after, serverTime()] : after;
    const readOrFollow = (answer: Answer): T | typeof again => {
      if (typeof answer !== 'string') return read(answer);
      if (changes === mostChanges)
        throw new TypeError(`the rate has changed ${changes} times during one call`);
      this.follow(answer);
      return again;
    };
    const done = this.#reader(readOrFollow, (error, value) => {
      if (value === again) this.call(script, after, read, reply, changes + 1);
      else reply(error, value);
    });
    const { encoded } = script;
    const define = () => this.#define(script.script, script.keys, [...script.argsUnder(rate), ...rest], done);
    if (!encoded?.known) {
      define();
      return;
    }
    encoded.send(script.openingUnder(rate, encoded), rest, (error, answer) => {
      if (!isUnknownScript(error)) {
        done(error, answer);
        return;
      }
      encoded.known = false;
      define();
    });
  }

  /** Calls a script as it is. */
  send<T>(
    script: Script,
    keys: readonly string[],
    args: Argument[],
    read: (answer: Answer) => T,
    reply: Reply<T>,
  ): void {
    const { serverTime } = this.#caller;
    if (serverTime) args.push(serverTime());
    this.#define(script, keys, args, this.#reader(read, reply));
  }

  /** Replies what `read` makes of an answer, or an error of ours. */
  #reader<T>(read: (answer: Answer) => T, reply: Reply<T>): Answered {
    const { name } = this.#caller;
    return (error, answer) => {
      if (error) {
        reply(errorOf(name, error));
        return;
      }
      let value: T;
      try {
        value = read(answerOf(answer));
      } catch (reason) {
        // Redis was there to answer: whatever makes no sense to us is what it holds.
        reply(new StoreError(name, reason));
        return;
      }
      reply(null, value);
    };
  }

  /** Calls a script as a command of the connection, which sends the text of one that the server does not know. */
  #define(
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    done: Answered,
    tries = mostTries,
  ): void {
    let answered: Promise<unknown>;
    try {
      answered = script(keys, args);
    } catch (error) {
      done(error);
      return;
    }
    answered.then(
      (answer) => {
        const encoded = script.encoded?.(keys.length);
        if (encoded) encoded.known = true;
        done(null, answer);
      },
      (error) => {
        if (tries > 1 && isUnknownScript(error)) this.#define(script, keys, args, done, tries - 1);
        else done(error);
      },
    );
  }
}

/** What a call reads of an answer that only names another rate. */
const again = Symbol('again');

/** Whether a call was not run, as the server has forgotten its script. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
