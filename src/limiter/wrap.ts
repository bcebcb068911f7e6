import { AcquireTimeoutError, type AskedPermits, RateLimitExceededError } from '../errors.ts';
import type { Permits } from '../limits/cost.ts';
import type { Line } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import * as check from '../validate.ts';
import { Acquisition } from './acquisition.ts';

/** Options of {@link RateLimiter.wrap}: what a call costs, and how long it may wait. */
export interface WrapOptions<P = Permits, Args extends unknown[] = [], This = unknown> {
  /**
   * Permits that a call costs: a number, a record of the limits' names, or a function of the call's arguments and `this`.
   *
   * @default 1
   */
  permits?: P | ((this: This, ...args: Args) => P) | undefined;
  /**
   * What happens to a call whose permits are not there now: it waits, or rejects with RateLimitExceededError.
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
  /** Cancels the calls that wait: they reject with the signal's reason, as later calls do. What already runs is not touched. */
  signal?: AbortSignal | undefined;
}

/** The names of the options, for checks. */
export const wrapOptions: readonly string[] = ['permits', 'strategy', 'timeout', 'signal'];

/** The options with their defaults, checked but for permits: what they may be is for the line to say. */
export interface CallPlan<P, Args extends unknown[], This> {
  readonly permits: P | ((this: This, ...args: Args) => P);
  readonly strategy: 'wait' | 'error';
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** Fills in the defaults, and refuses what cannot be meant. */
export function callPlanOf<P, Args extends unknown[], This>(
  options: WrapOptions<P, Args, This> = {},
  known = wrapOptions,
): CallPlan<P, Args, This> {
  check.options('options', options);
  check.knownOptions(options, known);
  const { permits = 1 as P, strategy = 'wait', signal } = options;
  check.oneOf('strategy', strategy, ['wait', 'error']);
  const { timeout = strategy === 'wait' ? Infinity : 0 } = options;
  check.duration('timeout', timeout);
  check.abortSignal('signal', signal);
  return { permits, strategy, timeout, signal };
}

/** The function, behind a line: with the same name and length, and a promise of its result. */
export function behindLine<P, This, Args extends unknown[], R>(
  fn: (this: This, ...args: Args) => R,
  plan: CallPlan<P, Args, This>,
  lineOf: (self: This, args: Args) => Line<P>,
): (this: This, ...args: Args) => Promise<Awaited<R>> {
  const { permits } = plan;
  async function behind(this: This, ...args: Args): Promise<Awaited<R>> {
    const line = lineOf(this, args);
    const cost =
      typeof permits === 'function'
        ? (permits as (this: This, ...args: Args) => P).apply(this, args)
        : permits;
    await acquire(line, cost, plan);
    return await fn.apply(this, args);
  }
  return Object.defineProperties(behind, {
    name: { value: fn.name, configurable: true },
    length: { value: fn.length, configurable: true },
  });
}

/** Waits in the line as the plan says. */
function acquire<P>(
  line: Line<P>,
  permits: P,
  { strategy, timeout, signal }: CallPlan<P, never, never>,
): Promise<Permit<P>> {
  const cost = line.costOf(permits);
  return new Promise((resolve, reject) => {
    const refuse = (reason: unknown) =>
      reject(
        strategy === 'error' && reason instanceof AcquireTimeoutError
          ? new RateLimitExceededError(line.name, permits as AskedPermits, reason.retryAfter)
          : reason,
      );
    new Acquisition(line, permits, cost, { timeout, signal }, resolve, refuse).ask();
  });
}
