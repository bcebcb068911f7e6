import { StoreError } from '../errors.ts';
import { show } from '../validate.ts';
import type { RedissonConfig } from './options.ts';
import type { RateType } from './RateType.ts';

/** The fields of a config in Redis; early versions of Redisson have no keep-alive. */
interface StoredFields {
  readonly rate: string;
  readonly interval: string;
  readonly type: string;
  readonly keepAlive: string | null;
}

/** The config that the fields hold. Throws a StoreError if they are invalid, as lua/redisson/state/config.lua does. */
export function storedConfig(
  name: string,
  { rate, interval, type, keepAlive }: StoredFields,
): RedissonConfig {
  const field = (key: string, value: string, expected: string, isRight: RegExp): number => {
    if (isRight.test(value)) return Number(value);
    const what = new TypeError(`key ${name}: expected ${key} to be ${expected}, got ${show(value)}`);
    throw new StoreError(name, what);
  };
  const positive = /^0*[1-9][0-9]*$/;
  return {
    type: field('type', type, '0 or 1', /^[01]$/) as RateType,
    rate: field('rate', rate, 'a positive integer', positive),
    interval: field('interval', interval, 'a positive integer', positive),
    keepAlive: field('keepAliveTime', keepAlive ?? '0', 'a whole number', /^[0-9]+$/),
  };
}
