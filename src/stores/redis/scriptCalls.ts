import { StoreError } from '../../errors.ts';
import type { Limit } from '../../limits/limit.ts';
import type { Reply } from '../store.ts';
import { type Answer, answerOf } from './answers.ts';
import { errorOf } from './errors.ts';
import type { Script } from './scripts.ts';
import { limitsOf, numbersOf, specOf } from './spec.ts';

/** So often a call is made again because another rate was stored since: somebody changes it without end. */
const mostChanges = 16;

/** ioredis sends a script's text where Redis does not know it; where it is flushed again meanwhile, the call is made again. */
const mostTries = 4;

type Argument = string | number;

/** A call of a script that works under the limits in force: what it is given before them, and after them. */
export interface LimitedCall {
  script: Script;
  keys: readonly string[];
  before: readonly Argument[];
  /** Whether it is told the numbers of an only limit, for its quick way. */
  quick?: boolean;
  after: readonly Argument[];
}

/** Who calls the scripts for. */
export interface Caller {
  /** The limiter's name, for messages. */
  name: string;
  names: readonly string[];
  limits: readonly Limit[];
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
  readonly #own: { limits: readonly Limit[]; spec: string; stored: boolean };
  /** The rate in force, as far as it is known. */
  rate: { limits: readonly Limit[]; spec: string; stored: boolean };

  constructor(caller: Caller) {
    this.#caller = caller;
    this.#own = { limits: caller.limits, spec: specOf(caller.names, caller.limits), stored: false };
    this.rate = this.#own;
  }

  /** Takes a stored rate to be in force, as the text that a script has named; the limiter's own for an empty list. */
  follow(text: string): void {
    if (this.rate.stored && this.rate.spec === text) return;
    const limits = limitsOf(this.#caller.names, text, this.#caller.control);
    this.rate = limits ? { limits, spec: text, stored: true } : this.#own;
  }

  /** Calls a script under the limits in force, and hands on what `read` makes of its answer, or an error of ours. */
  call<T>(call: LimitedCall, read: (answer: number[] | number) => T, reply: Reply<T>, changes = 0): void {
    const { script, keys, before, quick, after } = call;
    const { limits, spec, stored } = this.rate;
    const numbers = quick ? numbersOf(this.#caller.names, limits) : [];
    const readOrFollow = (answer: Answer): { value: T } | undefined => {
      if (typeof answer !== 'string') return { value: read(answer) };
      if (changes === mostChanges)
        throw new TypeError(`the rate has changed ${changes} times during one call`);
      this.follow(answer);
      return undefined;
    };
    this.send(
      script,
      keys,
      [...before, spec, stored ? 1 : 0, ...numbers, ...after],
      readOrFollow,
      (error, done) => {
        if (error) reply(error);
        else if (done) reply(null, done.value);
        else this.call(call, read, reply, changes + 1);
      },
    );
  }

  /** Calls a script as it is. */
  send<T>(
    script: Script,
    keys: readonly string[],
    args: Argument[],
    read: (answer: Answer) => T,
    reply: Reply<T>,
    tries = mostTries,
  ): void {
    const { name, serverTime } = this.#caller;
    if (serverTime && tries === mostTries) args.push(serverTime());
    let answered: Promise<unknown>;
    try {
      answered = script(keys, args);
    } catch (error) {
      reply(errorOf(name, error));
      return;
    }
    answered.then(
      (answer) => {
        let value: T;
        try {
          value = read(answerOf(answer));
        } catch (error) {
          // Redis was there to answer: whatever makes no sense to us is what it holds.
          reply(new StoreError(name, error));
          return;
        }
        reply(null, value);
      },
      (error) => {
        if (tries > 1 && isUnknownScript(error)) this.send(script, keys, args, read, reply, tries - 1);
        else reply(errorOf(name, error));
      },
    );
  }
}

/** Whether a call was not run, as the server has forgotten its script. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
