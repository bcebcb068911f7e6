/**
 * What may not stand in a key as it is: the end of a hash tag, the sign that escapes, and halves of a surrogate pair,
 * which UTF-8 would turn into one and the same character.
 */
const special = /[%}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text as a part of a key: different texts stay different. */
export function escaped(text: string): string {
  return text.replace(special, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

/** The keys of one limiter, all in one hash slot, whatever its name is. */
export interface Keys {
  ledger: string;
  contenders: string;
  /** The log of each limit, in their order. */
  logs: string[];
  /** The last sequence of refunds of one line of a client. */
  sequence(line: string): string;
}

/** The keys of the limiter of that name: `{prefix:name}`, and what lies under it. */
export function keysOf(prefix: string, name: string, limits: readonly string[]): Keys {
  // A colon in the prefix could belong to the name just as well.
  const ledger = `{${escaped(prefix).replaceAll(':', '%3a')}:${escaped(name)}}`;
  return {
    ledger,
    contenders: `${ledger}:contenders`,
    logs: limits.map((limit) => `${ledger}:log:${escaped(limit)}`),
    sequence: (line) => `${ledger}:sequence:${line}`,
  };
}
