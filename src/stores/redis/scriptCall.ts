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
/** The number of keys of most decisions. */
const fewKeys = 2;

/** The ledger that a script is called for. */
export interface Caller {
  readonly setting: LedgerSetting;
  /** The limits in force, as far as they are known. */
  readonly rate: KnownRate;
  /** All keys of the ledger. */
  readonly allKeys: Words;
  /** Follows the text of a script's answer: its limits are in force. */
  follow(text: string): void;
}

/** A script, its arguments, and how to read its answer. */
export interface Invocation<T> {
  script: Script;
  keys: Words;
  /** The arguments after those that name the limits. */
  numbers: readonly number[];
  read(answer: number[] | number): T;
}

/**
 * A call of a script under the limits in force.
 *
 * The call names the limits that the client expects to be in force. If others are, the script changes nothing and replies with
 * those, and the call is made again. So it is with all keys, if it has few and the script replies with 0.
 */
export class ScriptCall<T> implements Asker {
  readonly #caller: Caller;
  readonly #invocation: Invocation<T>;
  #keys: Words;
  readonly #reply: Reply<T>;
  #changes = 0;
  /** The numbers of the last try. */
  #numbers: readonly number[] = [];
  /** Set if only the script's hash was sent. */
  #encoded: EncodedScript | undefined;

  constructor(caller: Caller, invocation: Invocation<T>, reply: Reply<T>) {
    this.#caller = caller;
    this.#invocation = invocation;
    this.#keys = invocation.keys;
    this.#reply = reply;
  }

  make(): void {
    const { serverTime } = this.#caller.setting;
    const { script, numbers } = this.#invocation;
    this.#numbers = serverTime ? [...numbers, serverTime()] : numbers;
    const encoded = script.encoded?.(this.#keys.count);
    if (!encoded?.isKnown) {
      this.#callDefined();
      return;
    }
    this.#encoded = encoded;
    try {
      encoded.send(this.#keys, this.#rate, this.#numbers, this);
    } catch (error) {
      this.answered(error);
    }
  }

  get #rate(): Words {
    return this.#caller.rate.words;
  }

  #callDefined(): void {
    this.#encoded = undefined;
    const args = [...this.#rate.words, ...this.#numbers];
    callDefined(this.#invocation.script, this.#keys.words, args, this);
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
      if (answer === 0 && this.#keys.count === fewKeys) {
        this.#keys = this.#caller.allKeys;
        this.make();
        return;
      }
      value = this.#invocation.read(answer);
    } catch (reason) {
      // Redis has replied, but with malformed data.
      this.#reply(new StoreError(name, reason));
      return;
    }
    this.#reply(null, value);
  }
}
