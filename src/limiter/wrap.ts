import { AcquireTimeoutError, type AskedPermits, RateLimitExceededError } from '../errors.ts';
import type { Permits } from '../limits/cost.ts';
import type { Line } from '../port/line.ts';
import * as check from '../validate.ts';
import { acquireFrom } from './acquisition.ts';

/** Options of {@link RateLimiter.wrap}. */
export interface WrapOptions<P = Permits, Args extends unknown[] = [], This = unknown> {
  /**
   * Permits that a call costs: a number, a record of the names of several limits, or a function of the call's arguments and
   * `this`.
   *
   * @default 1
   */
  permits?: P | ((this: This, ...args: Args) => P) | undefined;
  /**
   * What happens to a call whose permits are not available now, or within `timeout`: `'wait'` lets it wait, `'error'` rejects it
   * with `RateLimitExceededError`.
   *
   * @default 'wait'
   */
  strategy?: 'wait' | 'error' | undefined;
  /**
   * Milliseconds that a call may wait for its permits: may be fractional, 0 or Infinity.
   *
   * @default Infinity with the strategy 'wait', 0 with 'error'
   */
  timeout?: number | undefined;
  /**
   * Cancels waiting calls: they reject with the signal's reason, and so do later calls. Running calls continue. None by
   * default.
   */
  signal?: AbortSignal | undefined;
}

/** The names of the options. */
export const wrapOptions: readonly string[] = ['permits', 'strategy', 'timeout', 'signal'];

/** The checked options with their defaults. */
interface CallPlan<P, Args extends unknown[], This> {
  readonly permits: P | ((this: This, ...args: Args) => P);
  readonly strategy: 'wait' | 'error';
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** Fills in the defaults. Throws for an invalid option; `permits` is checked with the line. */
export function callPlanOf<P, Args extends unknown[], This>(
  options: WrapOptions<P, Args, This> = {},
  known = wrapOptions,
): CallPlan<P, Args, This> {
  check.options(options, known);
  const { permits = 1 as P, strategy = 'wait', signal } = options;
  check.oneOf('strategy', strategy, ['wait', 'error']);
  const { timeout = strategy === 'wait' ? Infinity : 0 } = options;
  check.duration('timeout', timeout);
  check.abortSignal('signal', signal);
  return { permits, strategy, timeout, signal };
}

/** Returns a function that acquires permits of a line, then calls `fn`. It has the name and the length of `fn`. */
export function limitedFunction<P, This, Args extends unknown[], R>(
  fn: (this: This, ...args: Args) => R,
  { permits, strategy, timeout, signal }: CallPlan<P, Args, This>,
  lineOf: (key: unknown) => Line<P>,
  key?: (this: This, ...args: Args) => string,
): (this: This, ...args: Args) => Promise<Awaited<R>> {
  async function limited(this: This, ...args: Args): Promise<Awaited<R>> {
    const line = lineOf(key?.apply(this, args));
    const asked =
      typeof permits === 'function'
        ? (permits as (this: This, ...args: Args) => P).apply(this, args)
        : permits;
    try {
      await acquireFrom(line, asked, line.costOf(asked), { timeout, signal });
    } catch (error) {
      if (strategy === 'wait' || !(error instanceof AcquireTimeoutError)) throw error;
      throw new RateLimitExceededError(line.name, asked as AskedPermits, error.retryAfter, timeout);
    }
    return await fn.apply(this, args);
  }
  return Object.defineProperties(limited, {
    name: { value: fn.name, configurable: true },
    length: { value: fn.length, configurable: true },
  });
}
