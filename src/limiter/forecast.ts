import type { Limit } from '../limits/limit.ts';
import type { Cost } from '../stores/store.ts';

/**
 * The least time in milliseconds that `asked` permits need of a limit, from a moment on: whatever is free at that moment,
 * and whoever else asks. `drained` says that a bucket has nothing left at that moment.
 */
function leastTime(limit: Limit, asked: number, drained: boolean): number {
  const { permits, interval } = limit;
  const windows = Math.ceil(asked / permits);
  if (limit.kind === 'slidingWindow') return (windows - 1) * interval;
  // What is left of one window, and the whole of the next, can come together.
  if (limit.kind === 'fixedWindow') return Math.max(0, windows - 2) * interval;
  // A booked moment is rounded up to a millisecond: so much may be left.
  const left = drained ? permits / interval : limit.burst;
  return Math.max(0, ((asked - left) * interval) / permits);
}

/** A wait that a request at the end of the line cannot fall below, counted from the last booked moment. */
export function leastWait(
  limits: readonly Limit[],
  cost: Cost,
  asked: readonly number[],
  booked: boolean,
): number {
  const drained = booked && limits.length === 1;
  let wait = 0;
  for (let i = 0; i < limits.length; i++)
    if (cost[i] > 0) wait = Math.max(wait, leastTime(limits[i], asked[i], drained));
  return wait;
}
