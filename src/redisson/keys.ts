/** The keys of one limiter of Redisson, as one client sees them. */
export interface RedissonKeys {
  /** The keys of Redisson: the config, the state of all clients, and the state of this client. */
  readonly original: readonly string[];
  /** The keys that the scripts receive: the keys of Redisson, and two marks of this package. */
  readonly all: readonly string[];
  /** The key of the config: the name itself. */
  readonly config: string;
  /** The key of the last sequence number of the releases of one line, a limiter object. Redisson does not use it. */
  sequence(line: string): string;
}

/** The keys as Redisson names them: suffixes after the name in braces, or after the name itself if it contains a brace. */
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

/** Whether all keys of a limiter lie in one slot of a cluster. The first pair of braces determines the slot of the config. */
export function fitsOneSlot(name: string): boolean {
  return name.includes('{') ? /^[^{]*\{[^}]+\}/.test(name) : !name.includes('}');
}
