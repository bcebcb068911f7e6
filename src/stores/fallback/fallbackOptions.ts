import * as check from '../../validate.ts';

/**
 * How a limiter over Redis behaves while Redis is unavailable, and when Redis counts as unavailable.
 *
 * @example
 * // Each of eight processes grants an eighth by itself: together, they grant at most one limit.
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
   * The part of each limit that this limiter object grants by itself: above 0, at most 1. With one divided by the number of
   * objects of the name in all processes, these together grant at most one limit, in addition to the permits that Redis has
   * granted or still grants.
   *
   * @default 0.5
   */
  ratio?: number | undefined;
  /**
   * Milliseconds that one call to Redis may take, and that a connection has to be opened at the start; `Infinity` waits as
   * long as the client does.
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

/** The options with their defaults. */
export type Fallback = { [K in keyof FallbackOptions]-?: NonNullable<FallbackOptions[K]> };

const modes = ['local', 'reject', 'allow'] as const;

/** The options that `fallback` stands for. Throws a TypeError or RangeError if they are invalid. */
export function fallbackOf(option: FallbackOptions | FallbackOptions['mode']): Fallback {
  if (typeof option !== 'object' || option === null) {
    check.oneOf('fallback', option, modes);
    return fallbackOf({ mode: option });
  }
  check.options(option, ['mode', 'ratio', 'timeout', 'cooldown'], 'fallback');
  const { mode = 'local', ratio = 0.5, timeout = 500, cooldown = 1_000 } = option;
  check.oneOf('fallback.mode', mode, modes);
  check.fraction('fallback.ratio', ratio);
  check.duration('fallback.timeout', timeout);
  check.duration('fallback.cooldown', cooldown);
  return { mode, ratio, timeout, cooldown };
}
