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
  /** What holds for all clients: a stored rate, and a pause. */
  control: string;
  /** The log of each limit, in their order. */
  logs: string[];
  /** The last sequence of refunds of one line of a client. */
  sequence(line: string): string;
}

/** The same for a part after which more follows: its colons could belong to that just as well. */
function closed(text: string): string {
  return escaped(text).replaceAll(':', '%3a');
}

/**
 * The keys of the limiter of that name: `{prefix:name}`, and what lies under it. With a client, those of that client alone:
 * `{prefix:name}:client:…`.
 *
 * The limiter of a key of a group has `{prefix:name%:key}`: in the hash tag, so that the keys of a group spread over a
 * cluster, and behind signs that no name can bring forth, as a `%` that escapes is followed by a digit.
 */
export function keysOf(
  prefix: string,
  name: string,
  limits: readonly string[],
  client?: string,
  key?: string,
): Keys {
  const member = key === undefined ? '' : `%:${escaped(key)}`;
  const limiter = `{${closed(prefix)}:${escaped(name)}${member}}`;
  const ledger = client === undefined ? limiter : `${limiter}:client:${closed(client)}`;
  return {
    ledger,
    contenders: `${ledger}:contenders`,
    control: `${limiter}:control`,
    logs: limits.map((limit) => `${ledger}:log:${escaped(limit)}`),
    sequence: (line) => `${ledger}:sequence:${line}`,
  };
}
