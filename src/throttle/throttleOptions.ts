import type { Permits } from '../limits/cost.ts';
import type { Limiter, LimiterGroup, Line } from '../port/line.ts';
import { lineFinder } from '../port/lineOf.ts';
import type { Permit } from '../port/permit.ts';
import * as check from '../validate.ts';

/** Options of {@link throttleDistributed}. */
export interface ThrottleDistributedOptions<T, P = Permits, R = T> {
  /**
   * Permits that a value costs: a number, a record of the names of several limits, or a function of the value and its index.
   *
   * @default 1
   */
  permits?: P | ((value: T, index: number) => P) | undefined;
  /**
   * What happens to a value whose permits are not available now, or within `timeout`: `'wait'` lets it wait, `'drop'` drops it,
   * and `'error'` fails with `RateLimitExceededError`.
   *
   * @default 'wait'
   */
  strategy?: 'wait' | 'drop' | 'error' | undefined;
  /**
   * Milliseconds that a value may wait: may be fractional, 0 or Infinity.
   *
   * @default Infinity with the strategy 'wait', 0 with the others
   */
  timeout?: number | undefined;
  /**
   * What happens, with the strategy `'wait'`, to a value that cannot be granted within `timeout`: `'error'` fails with
   * `AcquireTimeoutError`, `'drop'` drops it.
   *
   * @default 'error'
   */
  onTimeout?: 'error' | 'drop' | undefined;
  /**
   * Values that may wait in this subscription: a positive integer, or Infinity. A value counts once it is known to have to
   * wait; all values count while the store takes longer to reply than 100 ms, or than four mean round trips if these
   * are longer.
   *
   * @default Infinity
   */
  maxQueue?: number | undefined;
  /**
   * What happens to a value beyond `maxQueue`: `'error'` fails with `QueueOverflowError`, `'dropOldest'` drops the value that
   * has waited longest, and `'dropNewest'` drops the new one.
   *
   * @default 'error'
   */
  overflow?: 'error' | 'dropOldest' | 'dropNewest' | undefined;
  /**
   * Maps a value and its permit to the emitted value.
   *
   * @default the value itself
   */
  project?: ((value: T, permit: Permit<P>) => R) | undefined;
}

/** Options of {@link throttleDistributed} with a group: those of a limiter, and `key`. */
export interface ThrottleDistributedByKeyOptions<T, P = Permits, R = T>
  extends ThrottleDistributedOptions<T, P, R> {
  /** Returns the key of a value. Values of one key keep their order, and do not wait for values of other keys. */
  key: (value: T) => string;
}

/** The checked options with their defaults. */
export interface ThrottlePlan<T, P, R> {
  /** The name of the limiter or group, for error messages. */
  name: string;
  /** Returns the line of a value. Throws if there is none. */
  lineOf: (value: T) => Line<P>;
  /** Whether different values may have different lines. */
  keyed: boolean;
  permits: P | ((value: T, index: number) => P);
  strategy: 'wait' | 'drop' | 'error';
  timeout: number;
  onTimeout: 'error' | 'drop';
  maxQueue: number;
  overflow: 'error' | 'dropOldest' | 'dropNewest';
  project: ((value: T, permit: Permit<P>) => R) | undefined;
  /** Whether all waiting values are alike, so that the line only has to count them. */
  counted: boolean;
}

const allOptions = ['permits', 'key', 'strategy', 'timeout', 'onTimeout', 'maxQueue', 'overflow', 'project'];

/** Fills in the defaults. Throws for an invalid limiter or option, and for options that are not `known`. */
export function planOf<T, P, R>(
  limiter: Limiter<P> | LimiterGroup<P>,
  options: Partial<ThrottleDistributedByKeyOptions<T, P, R>> = {},
  known = allOptions,
): ThrottlePlan<T, P, R> {
  check.options(options, known);
  const {
    permits = 1 as P,
    strategy = 'wait',
    onTimeout = 'error',
    maxQueue = Infinity,
    overflow = 'error',
  } = options;
  const { timeout = strategy === 'wait' ? Infinity : 0, project, key } = options;
  check.oneOf('strategy', strategy, ['wait', 'drop', 'error']);
  check.duration('timeout', timeout);
  check.oneOf('onTimeout', onTimeout, ['error', 'drop']);
  check.positiveIntegerOrInfinity('maxQueue', maxQueue);
  check.oneOf('overflow', overflow, ['error', 'dropOldest', 'dropNewest']);
  if (project !== undefined) check.functionValue('project', project);
  const find = lineFinder(limiter, key, permits);
  const lineOf = (value: T) => find(key?.(value));
  const { name = 'group' } = 'line' in limiter ? limiter.line : limiter;
  const alike = typeof permits !== 'function' && !project && !key;
  const counted = alike && timeout === Infinity && maxQueue === Infinity;
  const keyed = key !== undefined;
  return { name, lineOf, keyed, permits, strategy, timeout, onTimeout, maxQueue, overflow, project, counted };
}
