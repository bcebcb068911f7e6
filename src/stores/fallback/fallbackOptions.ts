import * as check from '../../validate.ts';

/**
 * What a limiter over Redis does while Redis cannot be reached, and when that is.
 *
 * @example
 * // Each of eight processes grants an eighth by itself: together they stay within the limit.
 * new RateLimiter({ name: 'api', limit, redis, fallback: { mode: 'local', ratio: 1 / 8 } });
 */
export interface FallbackOptions {
  /**
   * `'local'` grants in this process, from the same limits scaled by `ratio`; `'reject'` fails with StoreUnavailableError;
   * `'allow'` grants everything at once.
   *
   * @default 'local'
   */
  mode?: 'local' | 'reject' | 'allow' | undefined;
  /**
   * The part of the limits that this process grants by itself: above 0, at most 1. With one divided by the number of
   * processes the fleet grants up to one limit by itself, on top of what Redis has granted or still grants.
   *
   * @default 0.5
   */
  ratio?: number | undefined;
  /**
   * Milliseconds that one call to Redis may take, and that a connection has to come up at the start; Infinity for as long as
   * ioredis waits.
   *
   * @default 500
   */
  timeout?: number | undefined;
  /**
   * Milliseconds after a failure before one call tries Redis again.
   *
   * @default 1_000
   */
  cooldown?: number | undefined;
}

/** A fallback with all that was left out. */
export type Fallback = { [K in keyof FallbackOptions]-?: NonNullable<FallbackOptions[K]> };

const modes = ['local', 'reject', 'allow'] as const;

/** What the option `fallback` means; refuses what cannot be meant. */
export function fallbackOf(option: FallbackOptions | FallbackOptions['mode']): Fallback {
  if (typeof option !== 'object' || option === null) {
    check.oneOf('fallback', option, modes);
    return fallbackOf({ mode: option });
  }
  check.options('fallback', option);
  check.knownOptions(option, ['mode', 'ratio', 'timeout', 'cooldown']);
  const { mode = 'local', ratio = 0.5, timeout = 500, cooldown = 1_000 } = option;
  check.oneOf('fallback.mode', mode, modes);
  check.fraction('fallback.ratio', ratio);
  check.duration('fallback.timeout', timeout);
  check.duration('fallback.cooldown', cooldown);
  return { mode, ratio, timeout, cooldown };
}
