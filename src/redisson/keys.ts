/** The keys of one limiter of Redisson, as one client sees them. */
export interface RedissonKeys {
  /** Redisson's own: the config, and the state of all clients and of this one. */
  readonly original: readonly string[];
  /** What a script takes that opens the limiter, in its order: those, and two of ours. */
  readonly all: readonly string[];
  /** The config: the bare name. */
  readonly config: string;
  /** The last sequence of releases of one line; not Redisson's. */
  sequence(line: string): string;
}

/** Where Redisson keeps a limiter: suffixes behind the name in braces, or behind the bare name where it has one itself. */
export function redissonKeys(name: string, clientId: string): RedissonKeys {
  const base = name.includes('{') ? name : `{${name}}`;
  const original = [
    name,
    `${base}:value`,
    `${base}:permits`,
    `${base}:value:${clientId}`,
    `${base}:permits:${clientId}`,
  ];
  return {
    config: name,
    original,
    all: [...original, `${base}:counted`, `${base}:counted:${clientId}`],
    sequence: (line) => `${base}:sequence:${line}`,
  };
}

/** Whether all keys of a limiter lie in one slot of a cluster: that of the bare name is chosen by its first pair of braces. */
export function fitsOneSlot(name: string): boolean {
  return name.includes('{') ? /^[^{]*\{[^}]+\}/.test(name) : !name.includes('}');
}
