import { StoreError } from '../../errors.ts';
import { callScript } from './callScript.ts';
import type { Asker } from './encoded.ts';
import { errorOf } from './errors.ts';
import type { Script, SharedCall, SharedCalls } from './script.ts';
import type { Words } from './words.ts';

/** The most decisions of one call: as many keep the server busy for 40 to 75 µs. */
const most = 16;

/**
 * Decisions with the same arguments share a call of the script. One that the shared call does not serve is made again alone, so
 * that it also fails alone.
 */
export function decisionsOf(script: Script): SharedCalls {
  const waiting: SharedCall[] = [];
  /** Whether the server has refused a call with the keys of several limiters. */
  let areRefused = false;

  const send = () => {
    const kinds = new Map<string, SharedCall[]>();
    const all = waiting.splice(0);
    for (const call of all) {
      if (call.isAlone) continue;
      const kind = call.shared.encoded + call.keys.count;
      if (!kinds.get(kind)?.push(call)) kinds.set(kind, [call]);
    }
    for (const calls of kinds.values()) {
      if (calls.length > 1 && !areRefused) share(calls);
      else for (const call of calls) call.send();
    }
    // After the others: one of its ledger may have shared a call before.
    for (const call of all) if (call.isAlone) call.send();
  };

  const share = (calls: readonly SharedCall[]) => {
    const [{ keys, shared }] = calls;
    const together = new JoinedKeys(calls);
    const answered: Asker['answered'] = (error, raw) => {
      // The server has run nothing: it has several nodes, or the user may not use one of the keys.
      const isRefused = error && errorOf('', error) instanceof StoreError;
      if (isRefused) areRefused = true;
      const answers = Array.isArray(raw) && raw.length === calls.length ? raw : [];
      calls.forEach((call, i) => {
        if (isRefused) call.send();
        else call.answered(error, answers[i]);
      });
    };
    callScript(script, together, shared, [keys.count], { answered });
  };

  return {
    send,
    add(call) {
      const length = waiting.push(call);
      if (length === 1) globalThis.process.nextTick(send);
      if (length === most) send();
    },
  };
}

/** The keys of several calls. A class, as V8 makes a shape for each object literal with a getter. */
class JoinedKeys implements Words {
  readonly #calls: readonly SharedCall[];
  readonly count: number;
  readonly encoded: string;

  constructor(calls: readonly SharedCall[]) {
    this.#calls = calls;
    this.count = calls.length * calls[0].keys.count;
    let text = '';
    for (const { keys } of calls) text += keys.encoded;
    this.encoded = text;
  }

  get words(): readonly string[] {
    return this.#calls.flatMap(({ keys }) => keys.words);
  }
}
