import { StoreError } from '../../errors.ts';
import type { Reply } from '../store.ts';
import { callDefined } from './callScript.ts';
import type { Asker } from './encoded.ts';
import { errorOf } from './errors.ts';
import type { LedgerSetting } from './ledgerSetting.ts';
import { type Answer, answerOf } from './replies.ts';
import type { Script } from './script.ts';

/** Calls a script that does not depend on the limits in force. */
export function sendScript<T>(
  { name, scripts, serverTime }: LedgerSetting,
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

  scripts.decide.shared?.send();
  callDefined(script, keys, serverTime ? [...args, serverTime()] : args, { answered });
}
