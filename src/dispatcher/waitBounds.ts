import type { Cost } from '../limits/cost.ts';
import type { Limit } from '../limits/limit.ts';

/** The last reservation, as far as it bounds the moments after it. */
export interface LastReserved {
  /** Permits of each limit that are granted at its moment. */
  readonly permits: Cost;
  /** Whether a bucket's level alone decided the moment: the bucket then holds less than a millisecond's refill. */
  readonly drained: boolean;
}

/** The least milliseconds after the last reservation until a limit has granted `asked` permits, whatever other clients do. */
function leastTime(limit: Limit, asked: number, reserved: number, drained: boolean): number {
  const { permits, interval } = limit;
  const windows = Math.ceil((asked + reserved) / permits);
  if (limit.kind === 'slidingWindow') return (windows - 1) * interval;
  // The rest of one window and the whole of the next can be granted together.
  if (limit.kind === 'fixedWindow') return Math.max(0, windows - 2) * interval;
  return Math.max(0, Math.floor(((drained ? asked : asked + reserved - limit.burst) * interval) / permits));
}

/**
 * The least milliseconds after the last reservation until the last of `requests` requests of a cost is granted, behind
 * requests of `ahead` permits.
 */
export function leastWait(
  limits: readonly Limit[],
  cost: Cost,
  requests: number,
  ahead: readonly number[],
  reserved: LastReserved | undefined,
): number {
  let wait = 0;
  for (let i = 0; i < limits.length; i++)
    if (cost[i] > 0) {
      const all = ahead[i] + cost[i] * requests;
      wait = Math.max(wait, leastTime(limits[i], all, reserved?.permits[i] ?? 0, reserved?.drained ?? false));
    }
  return wait;
}

/**
 * The most milliseconds after the last reservation until a bucket that is drained by it has granted `asked` permits, if no
 * other client interferes.
 */
export function mostWait(
  [{ permits, interval }]: readonly Limit[],
  asked: number,
  roundings: number,
): number {
  return Math.ceil((asked * interval) / permits) + roundings;
}

/** Milliseconds that rounding a moment up may cost a request: a full bucket gains nothing meanwhile. */
export function rounding(limits: readonly Limit[], cost: Cost): number {
  const [limit] = limits;
  if (limit.kind !== 'tokenBucket') return 0;
  const { permits, interval, burst } = limit;
  const whole = (cost[0] * interval) % permits === 0;
  return whole || cost[0] * interval + permits <= burst * interval ? 0 : 1;
}
