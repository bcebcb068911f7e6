/** The keys of a limiter of Redisson, for one of its clients. */
export interface RedissonKeys {
  readonly config: string;
  readonly value: string;
  readonly permits: string;
  readonly clientValue: string;
  readonly clientPermits: string;
}

/** Where Redisson keeps a limiter: suffixes behind the name in braces, or behind the bare name where it has one itself. */
export function redissonKeys(name: string, clientId = 'nobody'): RedissonKeys {
  const base = name.includes('{') ? name : `{${name}}`;
  return {
    config: name,
    value: `${base}:value`,
    permits: `${base}:permits`,
    clientValue: `${base}:value:${clientId}`,
    clientPermits: `${base}:permits:${clientId}`,
  };
}
