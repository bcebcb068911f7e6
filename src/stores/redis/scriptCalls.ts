import { StoreError } from '../../errors.ts';
import type { Limit } from '../../limits/limit.ts';
import type { Reply } from '../store.ts';
import { type Asker, encoded } from './encoded.ts';
import { errorOf } from './errors.ts';
import { type Answer, answerOf } from './replies.ts';
import type { Script } from './scripts.ts';
import { limitsOf, numbersOf } from './spec.ts';

/** So often a call is made again because another rate was stored since: somebody changes it without end. */
const mostChanges = 16;

/** ioredis sends a script's text where Redis does not know it; where it is flushed again meanwhile, the call is made again. */
const mostTries = 4;

/** Arguments, and the same as Redis reads them. */
interface Told {
  readonly args: readonly (string | number)[];
  readonly text: string;
}

function told(args: readonly (string | number)[]): Told {
  return { args, text: args.map((word) => encoded(String(word))).join('') };
}

/** The limits in force, as far as they are known, and as the scripts are told of them. */
export class KnownRate {
  readonly told: Told;
  /** The same for a script with a quick way, which is told the numbers of an only limit, too. */
  readonly toldQuick: Told;

  constructor(
    readonly limits: readonly Limit[],
    readonly spec: string,
    readonly stored: boolean,
  ) {
    const args = [spec, stored ? 1 : 0];
    this.told = told(args);
    this.toldQuick = told([...args, ...numbersOf(spec, limits)]);
  }
}

/** The keys of a script, and what it is given before the limits. */
export interface Place {
  readonly keys: readonly string[];
  /** The client; none for a script that does not ask who calls. */
  readonly before: readonly string[];
  /** Both as Redis reads them. */
  readonly text: string;
  /** Whether the script has a quick way. */
  readonly isQuick: boolean;
}

/** Who calls the scripts for. */
export interface Caller {
  /** The limiter's name, for messages. */
  readonly name: string;
  readonly names: readonly string[];
  readonly own: KnownRate;
  /** For tests alone, which compare the scripts with their twins at the same time: microseconds. */
  readonly serverTime: (() => number) | undefined;
}

/**
 * Calls the scripts of one limiter.
 *
 * It says with each call which limits it takes to be in force; where others are, the script does nothing but name them,
 * and the call is made again under those.
 */
export class ScriptCalls {
  readonly caller: Caller;
  /** The key of what is stored for all clients, for messages. */
  readonly #control: string;
  /** The rate in force, as far as it is known. */
  rate: KnownRate;

  constructor(caller: Caller, control: string) {
    this.caller = caller;
    this.#control = control;
    this.rate = caller.own;
  }

  /** Takes a stored rate to be in force, as the text that a script has named; the limiter's own for an empty list. */
  follow(text: string): void {
    if (this.rate.stored && this.rate.spec === text) return;
    const limits = limitsOf(this.caller.names, text, this.#control);
    this.rate = limits ? new KnownRate(limits, text, true) : this.caller.own;
  }

  /** Calls a script under the limits in force, and hands on what `read` makes of its answer, or an error of ours. */
  call<T>(
    script: Script,
    place: Place,
    after: readonly number[],
    read: (answer: number[] | number) => T,
    reply: Reply<T>,
  ): void {
    new LimitedCall(this, script, place, after, read, reply).make();
  }

  /** Calls a script as it is. */
  send<T>(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    read: (answer: Answer) => T,
    reply: Reply<T>,
  ): void {
    const { name, serverTime } = this.caller;
    const answered: Asker['answered'] = (error, raw) => {
      if (error) {
        reply(errorOf(name, error));
        return;
      }
      let value: T;
      try {
        value = read(answerOf(raw));
      } catch (reason) {
        reply(new StoreError(name, reason));
        return;
      }
      reply(null, value);
    };
    callDefined(script, keys, serverTime ? [...args, serverTime()] : args, { answered });
  }
}

/** A call under the limits in force. */
class LimitedCall<T> implements Asker {
  readonly #calls: ScriptCalls;
  readonly #script: Script;
  readonly #place: Place;
  readonly #after: readonly number[];
  readonly #read: (answer: number[] | number) => T;
  readonly #reply: Reply<T>;
  #changes = 0;
  /** What it is given, as it was last made. */
  #rest: readonly number[];
  #rate: KnownRate;
  /** Whether the server was sent no more than the script's hash. */
  #isEncoded = false;

  constructor(
    calls: ScriptCalls,
    script: Script,
    place: Place,
    after: readonly number[],
    read: (answer: number[] | number) => T,
    reply: Reply<T>,
  ) {
    this.#calls = calls;
    this.#script = script;
    this.#place = place;
    this.#after = after;
    this.#read = read;
    this.#reply = reply;
    this.#rest = after;
    this.#rate = calls.rate;
  }

  make(): void {
    const { serverTime } = this.#calls.caller;
    this.#rate = this.#calls.rate;
    this.#rest = serverTime ? [...this.#after, serverTime()] : this.#after;
    const { keys, before, text } = this.#place;
    const rate = this.#told;
    const encodedScript = this.#script.encoded?.(keys.length);
    if (!encodedScript?.known) {
      this.#callDefined();
      return;
    }
    this.#isEncoded = true;
    const args = before.length > 0 ? [...before, ...rate.args] : rate.args;
    const opening = { keys, args, text: text + rate.text };
    try {
      encodedScript.send(opening, this.#rest, this);
    } catch (error) {
      this.answered(error);
    }
  }

  get #told(): Told {
    return this.#place.isQuick ? this.#rate.toldQuick : this.#rate.told;
  }

  #callDefined(): void {
    this.#isEncoded = false;
    const { keys, before } = this.#place;
    callDefined(this.#script, keys, [...before, ...this.#told.args, ...this.#rest], this);
  }

  answered(error: unknown, raw?: unknown): void {
    const { name } = this.#calls.caller;
    if (error) {
      const encodedScript = this.#script.encoded?.(this.#place.keys.length);
      if (encodedScript && this.#isEncoded && isUnknownScript(error)) {
        encodedScript.known = false;
        this.#callDefined();
      } else this.#reply(errorOf(name, error));
      return;
    }
    let value: T;
    try {
      const answer = answerOf(raw);
      if (typeof answer === 'string') {
        if (this.#changes === mostChanges)
          throw new TypeError(`the rate has changed ${mostChanges} times during one call`);
        this.#calls.follow(answer);
        this.#changes++;
        this.make();
        return;
      }
      value = this.#read(answer);
    } catch (reason) {
      // Redis was there to answer: whatever makes no sense to us is what it holds.
      this.#reply(new StoreError(name, reason));
      return;
    }
    this.#reply(null, value);
  }
}

/** Calls a script as a command of the connection, which sends the text of one that the server does not know. */
function callDefined(
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
  asker: Asker,
  tries = mostTries,
): void {
  let answered: Promise<unknown>;
  try {
    answered = script(keys, args);
  } catch (error) {
    asker.answered(error);
    return;
  }
  answered.then(
    (answer) => {
      const encodedScript = script.encoded?.(keys.length);
      if (encodedScript) encodedScript.known = true;
      asker.answered(null, answer);
    },
    (error) => {
      if (tries > 1 && isUnknownScript(error)) callDefined(script, keys, args, asker, tries - 1);
      else asker.answered(error);
    },
  );
}

/** Whether a call was not run, as the server has forgotten its script. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
