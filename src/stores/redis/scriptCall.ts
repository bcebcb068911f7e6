import { StoreError } from '../../errors.ts';
import type { Reply } from '../store.ts';
import { callScript } from './callScript.ts';
import { errorOf } from './errors.ts';
import type { KnownRate, LedgerSetting } from './ledgerSetting.ts';
import { answerOf } from './replies.ts';
import type { Script, SharedCall } from './script.ts';
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
  /** Whether its decisions share no calls: the fast path did not serve one with all keys, or the limits have names. */
  isSlow: boolean;
  /** Follows the text of a script's answer: its limits are in force. */
  follow(text: string): void;
}

/** A script, its arguments, and how to read its answer. */
interface Invocation<T> {
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
 * those, and the call is made again. So it is alone and with all keys, if the script replies with 0.
 */
export class ScriptCall<T> implements SharedCall {
  readonly #caller: Caller;
  readonly #invocation: Invocation<T>;
  keys: Words;
  readonly #reply: Reply<T>;
  isAlone: boolean;
  #changes = 0;

  constructor(caller: Caller, invocation: Invocation<T>, reply: Reply<T>) {
    this.#caller = caller;
    this.#invocation = invocation;
    this.keys = invocation.keys;
    this.isAlone = caller.isSlow;
    this.#reply = reply;
  }

  make(): void {
    const { shared } = this.#caller.setting.scripts.decide;
    if (shared && this.#isShort) shared.add(this);
    else {
      shared?.send();
      this.send();
    }
  }

  send(): void {
    const { serverTime } = this.#caller.setting;
    const { script, numbers } = this.#invocation;
    const all = serverTime ? [...numbers, serverTime()] : numbers;
    callScript(script, this.keys, this.shared, all, this);
  }

  /** Only a decision of one permit has no numbers. */
  get #isShort(): boolean {
    return this.#invocation.numbers.length === 0;
  }

  get shared(): Words {
    return this.#caller.rate.words;
  }

  answered(error: unknown, raw?: unknown): void {
    const { name } = this.#caller.setting;
    if (error) {
      this.#reply(errorOf(name, error));
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
      if (answer === 0 && (this.keys.count === fewKeys || (this.#isShort && !this.isAlone))) {
        const { allKeys } = this.#caller;
        if (this.keys === allKeys) this.#caller.isSlow = true;
        this.keys = allKeys;
        this.isAlone = true;
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
