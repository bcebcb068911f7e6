import type { Cost } from '../limits/cost.ts';
import type { Limit } from '../limits/limit.ts';

/** The last booked moment, as far as it tells what comes after it. */
export interface LastReserved {
  /** Permits that were granted for that very moment, or since then, of each limit. */
  readonly permits: Cost;
  /** Whether the moment came of a bucket's own level alone: it then holds less than a millisecond refills. */
  readonly drained: boolean;
}

/** The least time in milliseconds that `asked` permits need of a limit after the last booked moment, whoever else asks. */
function leastTime(limit: Limit, asked: number, booked: number, drained: boolean): number {
  const { permits, interval } = limit;
  const windows = Math.ceil((asked + booked) / permits);
  if (limit.kind === 'slidingWindow') return (windows - 1) * interval;
  // What is left of one window, and the whole of the next, can come together.
  if (limit.kind === 'fixedWindow') return Math.max(0, windows - 2) * interval;
  return Math.max(0, Math.floor(((drained ? asked : asked + booked - limit.burst) * interval) / permits));
}

/**
 * The least time that the last of some requests of a cost needs after the last booked moment: those in front of them, who ask
 * for `asked` permits, are served first.
 */
export function leastWait(
  limits: readonly Limit[],
  cost: Cost,
  requests: number,
  asked: readonly number[],
  booked: LastReserved | undefined,
): number {
  let wait = 0;
  for (let i = 0; i < limits.length; i++)
    if (cost[i] > 0) {
      const all = asked[i] + cost[i] * requests;
      wait = Math.max(wait, leastTime(limits[i], all, booked?.permits[i] ?? 0, booked?.drained ?? false));
    }
  return wait;
}

/**
 * The most time that requests of `asked` permits need of a bucket that is drained at the last booked moment, if nobody else
 * asks, their roundings included.
 */
export function mostWait(
  [{ permits, interval }]: readonly Limit[],
  asked: number,
  roundings: number,
): number {
  return Math.ceil((asked * interval) / permits) + roundings;
}

/** Milliseconds that a request may lose to a full bucket, which holds no more while its moment is rounded up. */
export function rounding(limits: readonly Limit[], cost: Cost): number {
  const [limit] = limits;
  if (limit.kind !== 'tokenBucket') return 0;
  const { permits, interval, burst } = limit;
  const whole = (cost[0] * interval) % permits === 0;
  return whole || cost[0] * interval + permits <= burst * interval ? 0 : 1;
}
