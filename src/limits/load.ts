import type { Cost } from './cost.ts';

/** Limits, or their states in a ledger. */
interface Limited {
  readonly limits: readonly { readonly permits: number; readonly interval: number }[];
}

/** The load of a request: the milliseconds that its slowest limit needs at the full rate to produce the permits. */
export function loadOf({ limits }: Limited, cost: Cost): number {
  let load = 0;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) load = Math.max(load, (cost[i] * limits[i].interval) / limits[i].permits);
  return load;
}

/** The shortest interval of the limits: milliseconds. */
export function shortestInterval({ limits }: Limited): number {
  return Math.min(...limits.map(({ interval }) => interval));
}

/** The longest interval of the limits: milliseconds. */
export function longestInterval({ limits }: Limited): number {
  return Math.max(...limits.map(({ interval }) => interval));
}
