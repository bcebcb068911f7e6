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

/** From so many milliseconds on, an interval is long. */
const longInterval = 10_000;
/** Of requests that take at least so many milliseconds at the full rate, few are granted between two calls of a client. */
export const slowRequest = 40;
/** The load of requests that are too few to take turns for, if many are refunded: milliseconds. */
export const mostLoad = 200;

/** Whether the shortest interval is not long: permits come faster than clients can call for each of those that come back. */
export function isShort(limited: Limited): boolean {
  return shortestInterval(limited) < longInterval;
}

/**
 * Whether few requests of a load are granted between two calls of a client that takes turns in a short interval: if each takes at
 * least `least` milliseconds, or as many as a slow one.
 */
export function isSlow(limited: Limited, load: number, least = slowRequest): boolean {
  return load >= Math.min(least, slowRequest) && load < mostLoad && isShort(limited);
}
