import type { Limit } from '../limits/limit.ts';
import type { Cost } from '../stores/store.ts';

/** The least time in milliseconds that `asked` permits need of a limit, whatever is free, and whoever else asks. */
function leastTime(limit: Limit, asked: number): number {
  const { permits, interval } = limit;
  const windows = Math.ceil(asked / permits);
  if (limit.kind === 'slidingWindow') return (windows - 1) * interval;
  // What is left of one window, and the whole of the next, can come together.
  if (limit.kind === 'fixedWindow') return Math.max(0, windows - 2) * interval;
  return Math.max(0, ((asked - limit.burst) * interval) / permits);
}

/**
 * The least time that a request needs after the last booked moment: those in front of it who ask for `asked` permits,
 * and will wait for them whatever happens, are served first.
 */
export function leastWait(limits: readonly Limit[], cost: Cost, asked: readonly number[]): number {
  let wait = 0;
  for (let i = 0; i < limits.length; i++)
    if (cost[i] > 0) wait = Math.max(wait, leastTime(limits[i], asked[i] + cost[i]));
  return wait;
}
