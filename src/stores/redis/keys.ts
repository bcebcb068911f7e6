/**
 * Characters that a key cannot hold as they are: the end of a hash tag, the escape character, and lone halves of a surrogate
 * pair, which UTF-8 would turn into one and the same character.
 */
const special = /[%}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/** Matches most texts: all their characters stay as they are. */
const plain = /^[\w :./@|-]*$/;

/** A text as a part of a key: different texts stay different. */
export function escaped(text: string): string {
  if (plain.test(text)) return text;
  return text.replace(special, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

/** The same for a part that is not the last one: it must not contain a colon, which separates the parts. */
function closed(text: string): string {
  return escaped(text).replaceAll(':', '%3a');
}

/**
 * The keys of the limiters of one name. Each key is a hash tag, so that all keys of a limiter lie in one slot, and a suffix.
 *
 * The tag of a limiter is `{prefix:name}`, and that of a group's key `{prefix:name%:key}`: the keys of a group spread over a
 * cluster, and no name contains `%:`, because a hexadecimal digit follows each `%` that escapes. With a client, the keys are
 * `{prefix:name}:client:…`.
 */
export class KeySpace {
  readonly #limiter: string;
  readonly #client: string;
  /** The suffix of the key that all clients share: it holds a stored rate, and a pause. */
  readonly control = ':control';
  /** The suffixes of the keys that most scripts receive: the ledger, its contenders, the control, and a log for each limit. */
  readonly shared: readonly string[];
  /** Those that suffice for most decisions by one limit without a name. */
  readonly few: readonly string[];

  constructor(prefix: string, name: string, limits: readonly string[], client?: string) {
    this.#limiter = `${closed(prefix)}:${escaped(name)}`;
    this.#client = client === undefined ? '' : `:client:${closed(client)}`;
    const logs = limits.map((limit) => `${this.#client}:log:${escaped(limit)}`);
    this.shared = [this.#client, `${this.#client}:contenders`, this.control, ...logs];
    this.few = limits.length > 1 || limits[0] !== '' ? this.shared : [this.#client, this.control];
  }

  /** The tag of the limiter, or of a key of the group. */
  tagOf(key: string | undefined): string {
    return key === undefined ? `{${this.#limiter}}` : `{${this.#limiter}%:${escaped(key)}}`;
  }

  /** The suffixes for refunds. The last sequence number of some refunds of one limiter object takes the place of the contenders. */
  refunds(line: string): readonly string[] {
    const [ledger, , ...rest] = this.shared;
    return [ledger, `${this.#client}:sequence:${line}`, ...rest];
  }
}
