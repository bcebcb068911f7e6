import { StoreError } from '../../errors.ts';
import type { Reply } from '../store.ts';
import type { Asker } from './encoded.ts';
import { errorOf, isUnknownScript } from './errors.ts';
import type { LedgerSetting } from './ledgerSetting.ts';
import { type Answer, answerOf } from './replies.ts';
import type { Script } from './scripts.ts';

/** The most tries of a call: after ioredis has sent the text of a script, Redis may forget the script again before it runs. */
const mostTries = 4;

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
export function callDefined(
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
