import { StoreError } from '../../errors.ts';
import type { Reply } from '../store.ts';
import type { Asker, EncodedScript } from './encoded.ts';
import { errorOf, isUnknownScript } from './errors.ts';
import type { KnownRate, LedgerSetting } from './ledgerSetting.ts';
import { answerOf } from './replies.ts';
import type { Script } from './scripts.ts';
import { callDefined } from './sendScript.ts';
import type { Words } from './words.ts';

/** How often a call is made again because another rate was stored meanwhile. */
const mostChanges = 16;

/** The ledger that a script is called for. */
export interface Caller {
  readonly setting: LedgerSetting;
  /** The limits in force, as far as they are known. */
  readonly rate: KnownRate;
  /** Takes the limits of a text to be in force that a script has named. */
  follow(text: string): void;
}

/** What a script is asked under the limits in force. */
export interface Question<T> {
  script: Script;
  keys: Words;
  /** What follows the arguments that name the limits. */
  numbers: readonly number[];
  read(answer: number[] | number): T;
}

/**
 * A call of a script under the limits in force.
 *
 * The call names the limits that the client takes to be in force. If others are, the script does nothing but name those, and
 * the call is made again.
 */
export class ScriptCall<T> implements Asker {
  readonly #caller: Caller;
  readonly #question: Question<T>;
  readonly #reply: Reply<T>;
  #changes = 0;
  /** The numbers of the last try. */
  #numbers: readonly number[] = [];
  /** Set if only the script's hash was sent. */
  #encoded: EncodedScript | undefined;

  constructor(caller: Caller, question: Question<T>, reply: Reply<T>) {
    this.#caller = caller;
    this.#question = question;
    this.#reply = reply;
  }

  make(): void {
    const { serverTime } = this.#caller.setting;
    const { script, keys, numbers } = this.#question;
    this.#numbers = serverTime ? [...numbers, serverTime()] : numbers;
    const encoded = script.encoded?.(keys.count);
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
    const { script, keys } = this.#question;
    callDefined(script, keys.words, [...this.#rate.words, ...this.#numbers], this);
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
      value = this.#question.read(answer);
    } catch (reason) {
      // Redis has answered: what makes no sense is what it holds.
      this.#reply(new StoreError(name, reason));
      return;
    }
    this.#reply(null, value);
  }
}
