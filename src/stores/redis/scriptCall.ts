import { StoreError } from '../../errors.ts';
import type { Reply } from '../store.ts';
import type { Asker, EncodedScript } from './encoded.ts';
import { errorOf } from './errors.ts';
import type { KnownRate, LedgerSetting } from './ledgerSetting.ts';
import { type Answer, answerOf } from './replies.ts';
import type { Script } from './scripts.ts';
import type { Words } from './words.ts';

/** How often a call is made again because another rate was stored meanwhile. */
const mostChanges = 16;

/** ioredis sends the text of a script that Redis does not know. If it is flushed again meanwhile, the call is made again. */
const mostTries = 4;

/** The ledger that a script is called for. */
export interface Caller {
  readonly setting: LedgerSetting;
  /** The limits in force, as far as they are known. */
  readonly rate: KnownRate;
  /** Takes the limits of a text to be in force that a script has named. */
  follow(text: string): void;
}

/**
 * A call of a script under the limits in force.
 *
 * The call names the limits that the client takes to be in force. If others are, the script does nothing but name those, and
 * the call is made again.
 */
export class ScriptCall<T> implements Asker {
  readonly #caller: Caller;
  readonly #script: Script;
  readonly #keys: Words;
  readonly #arguments: readonly number[];
  readonly #read: (answer: number[] | number) => T;
  readonly #reply: Reply<T>;
  #changes = 0;
  /** The numbers of the last try. */
  #numbers: readonly number[] = [];
  /** Set if only the script's hash was sent. */
  #encoded: EncodedScript | undefined;

  /** `read` reads the script's answer. */
  constructor(
    caller: Caller,
    script: Script,
    keys: Words,
    numbers: readonly number[],
    read: (answer: number[] | number) => T,
    reply: Reply<T>,
  ) {
    this.#caller = caller;
    this.#script = script;
    this.#keys = keys;
    this.#arguments = numbers;
    this.#read = read;
    this.#reply = reply;
  }

  make(): void {
    const { serverTime } = this.#caller.setting;
    const keys = this.#keys;
    this.#numbers = serverTime ? [...this.#arguments, serverTime()] : this.#arguments;
    const encoded = this.#script.encoded?.(keys.count);
    if (!encoded?.isKnown) {
      this.#callDefined();
      return;
    }
    this.#encoded = encoded;
    try {
      encoded.send(keys, this.#rate, this.#numbers, this);
    } catch (error) {
      this.answered(error);
    }
  }

  get #rate(): Words {
    return this.#caller.rate.words;
  }

  #callDefined(): void {
    this.#encoded = undefined;
    callDefined(this.#script, this.#keys.words, [...this.#rate.words, ...this.#numbers], this);
  }

  answered(error: unknown, raw?: unknown): void {
    const { name } = this.#caller.setting;
    if (error) {
      if (this.#encoded && isUnknownScript(error)) {
        this.#encoded.isKnown = false;
        this.#callDefined();
      } else this.#reply(errorOf(name, error));
      return;
    }
    let value: T;
    try {
      const answer = answerOf(raw);
      if (typeof answer === 'string') {
        if (this.#changes++ === mostChanges)
          throw new TypeError(`the rate has changed ${mostChanges} times during one call`);
        this.#caller.follow(answer);
        this.make();
        return;
      }
      value = this.#read(answer);
    } catch (reason) {
      // Redis has answered: what makes no sense is what it holds.
      this.#reply(new StoreError(name, reason));
      return;
    }
    this.#reply(null, value);
  }
}

/** Calls a script that does not depend on the limits in force. */
export function sendScript<T>(
  { name, serverTime }: LedgerSetting,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
  read: (answer: Answer) => T,
  reply: Reply<T>,
): void {
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

/** Calls a script as a command of the connection, which sends the text of a script that the server does not know. */
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
      const encoded = script.encoded?.(keys.length);
      if (encoded) encoded.isKnown = true;
      asker.answered(null, answer);
    },
    (error) => {
      if (tries > 1 && isUnknownScript(error)) callDefined(script, keys, args, asker, tries - 1);
      else asker.answered(error);
    },
  );
}

/** Whether a call was not run because the server has forgotten its script. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
