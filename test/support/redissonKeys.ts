/** The keys of a limiter of Redisson, for one of its clients. */
export interface RedissonKeys {
  readonly config: string;
  readonly value: string;
  readonly permits: string;
  readonly clientValue: string;
  readonly clientPermits: string;
}

/**
 * The keys of Redisson for a limiter: suffixes after the name in braces, or after the bare name if it has braces
 * itself.
 */
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
