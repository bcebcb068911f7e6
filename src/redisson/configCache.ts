import type { Limit } from '../limits/limit.ts';

/**
 * A rate of Redisson as the limit that a line reckons with. It says how much is asked for in one call, and, where `most` is
 * left out, nothing of what can be granted: anybody on the wire may change the rate unseen, so only Redis can tell.
 */
export function limitOf(rate: number, interval: number, most = Number.MAX_SAFE_INTEGER): Limit {
  // Not made by tokenBucket(): a JVM may have set rates beyond what the limits of this package can count.
  return { kind: 'tokenBucket', permits: rate, interval, burst: most } as unknown as Limit;
}

/** The limit of a line that has not heard of its rate yet: it asks for little. */
export const unknownLimit = /* @__PURE__ */ limitOf(1, 1);
