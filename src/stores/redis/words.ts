/** Arguments of a command, also as Redis reads them: encoded once for many calls. */
export interface Words {
  readonly count: number;
  readonly words: readonly string[];
  readonly encoded: string;
}

/** One argument as Redis reads it. */
function encoded(word: string): string {
  return `$${Buffer.byteLength(word)}\r\n${word}\r\n`;
}

export function wordsOf(args: readonly (string | number)[]): Words {
  const words = args.map(String);
  return { count: words.length, words, encoded: words.map(encoded).join('') };
}

/** A number as Redis reads it. Without Node's `Buffer`, as browsers load this module, too. */
function encodedDigits(word: string): string {
  return `$${word.length}\r\n${word}\r\n`;
}

/** Whole numbers from -1 on, as most arguments are. */
const small = /* @__PURE__ */ Array.from({ length: 1_024 }, (_, i) => encodedDigits(String(i - 1)));

export function encodedNumber(n: number): string {
  // A large number would be looked up as the name of a property.
  return (n < small.length ? small[n + 1] : undefined) ?? encodedDigits(String(n));
}

/** Milliseconds as a script reads them: in whole microseconds; -1 for no bound. */
export function microseconds(ms: number): number {
  return ms === Infinity ? -1 : Math.floor(ms * 1000);
}

/** The keys of one limiter: its tag with each suffix. */
export class KeyWords implements Words {
  readonly #tag: string;
  readonly #suffixes: readonly string[];
  readonly encoded: string;

  constructor(tag: string, suffixes: readonly string[]) {
    this.#tag = tag;
    this.#suffixes = suffixes;
    // The tag is measured once for all keys.
    const bytes = Buffer.byteLength(tag);
    let text = '';
    for (const suffix of suffixes) text += `$${bytes + Buffer.byteLength(suffix)}\r\n${tag}${suffix}\r\n`;
    this.encoded = text;
  }

  get count(): number {
    return this.#suffixes.length;
  }

  get words(): readonly string[] {
    return this.#suffixes.map((suffix) => this.#tag + suffix);
  }
}
