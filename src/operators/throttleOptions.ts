import type { Permits } from '../limits/cost.ts';
import type { Permit } from '../port/permit.ts';
import * as check from '../validate.ts';

/** Options of {@link throttleDistributed}. */
export interface ThrottleDistributedOptions<T, P = Permits, R = T> {
  /**
   * Permits that a value costs: a number, a record of the limits' names, or a function of the value and its index.
   *
   * @default 1
   */
  permits?: P | ((value: T, index: number) => P) | undefined;
  /**
   * What happens to a value whose permits are not there now: it waits, is dropped, or raises RateLimitExceededError.
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
   * What happens, with the strategy 'wait', to a value that cannot have its permits in time: AcquireTimeoutError, or it is dropped.
   *
   * @default 'error'
   */
  onTimeout?: 'error' | 'drop' | undefined;
  /**
   * Values that may wait in this subscription: a positive integer, or Infinity. Only those count that really have to wait, or
   * all as long as the store takes more than 100 ms, and more than four round trips, to answer.
   *
   * @default Infinity
   */
  maxQueue?: number | undefined;
  /**
   * What happens when `maxQueue` values wait and one more comes: QueueOverflowError, or the oldest or the newest is dropped.
   *
   * @default 'error'
   */
  overflow?: 'error' | 'dropOldest' | 'dropNewest' | undefined;
  /**
   * What is emitted for a value and its permit.
   *
   * @default the value
   */
  project?: ((value: T, permit: Permit<P>) => R) | undefined;
}

/** Options of {@link throttleDistributed} with a group: those of a limiter, and the key of a value. */
export interface ThrottleDistributedByKeyOptions<T, P = Permits, R = T>
  extends ThrottleDistributedOptions<T, P, R> {
  /** Which limiter of the group a value waits for. Values of one key keep their order; those of others do not wait for them. */
  key: (value: T) => string;
}

/** The options with their defaults, checked. */
export interface ThrottlePlan<T, P, R> {
  permits: P | ((value: T, index: number) => P);
  strategy: 'wait' | 'drop' | 'error';
  timeout: number;
  onTimeout: 'error' | 'drop';
  maxQueue: number;
  overflow: 'error' | 'dropOldest' | 'dropNewest';
  project: ((value: T, permit: Permit<P>) => R) | undefined;
  /** Where the values wait for limiters of a group, how one is chosen. */
  key: ((value: T) => string) | undefined;
  /** Whether nothing tells one waiting value from another, so that the line need only count them. */
  counted: boolean;
}

const known = ['permits', 'key', 'strategy', 'timeout', 'onTimeout', 'maxQueue', 'overflow', 'project'];

/** Fills in the defaults, and refuses what cannot be meant. */
export function planOf<T, P, R>(
  options: Partial<ThrottleDistributedByKeyOptions<T, P, R>> = {},
): ThrottlePlan<T, P, R> {
  check.options('options', options);
  check.knownOptions(options, known);
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
  const alike = typeof permits !== 'function' && !project && !key;
  const counted = alike && timeout === Infinity && maxQueue === Infinity;
  return { permits, strategy, timeout, onTimeout, maxQueue, overflow, project, key, counted };
}
