import type { Asker } from './encoded.ts';
import { isRefusedBy } from './errors.ts';
import type { Script } from './script.ts';
import type { Words } from './words.ts';

/** The most tries of a call: after ioredis has sent the text of a script, Redis may forget the script again before it runs. */
const mostTries = 4;

/** Calls a script by its hash alone if the server is assumed to know it, and as a command of the connection otherwise. */
export function callScript(
  script: Script,
  keys: Words,
  shared: Words,
  numbers: readonly number[],
  asker: Asker,
): void {
  const call = () => callDefined(script, keys.words, [...shared.words, ...numbers], asker);
  const encoded = script.encoded?.(keys.count);
  if (!encoded?.isKnown) {
    call();
    return;
  }
  const answered: Asker['answered'] = (error, raw) => {
    if (isRefusedBy('NOSCRIPT', error)) {
      encoded.isKnown = false;
      call();
    } else asker.answered(error && script.errorOf ? script.errorOf(error) : error, raw);
  };
  try {
    encoded.send(keys, shared, numbers, { answered });
  } catch (error) {
    answered(error);
  }
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
      if (tries > 1 && isRefusedBy('NOSCRIPT', error)) callDefined(script, keys, args, asker, tries - 1);
      else asker.answered(error);
    },
  );
}
