import type { Limit } from '../limits/limit.ts';

/**
 * A rate of Redisson as the limit of a dispatcher, which derives from it how much one call asks for. Without `most`, it does
 * not bound a request: any client may change the rate, so that only Redis knows what can be granted.
 */
export function limitOf(rate: number, interval: number, most = Number.MAX_SAFE_INTEGER): Limit {
  // Not made by tokenBucket(): a JVM may have set a rate beyond the bounds of this package.
  // In another order than there: V8 would keep the burst of every bucket in an object, as this one is no small integer.
  return { kind: 'tokenBucket', burst: most, permits: rate, interval } as unknown as Limit;
}

/** The limit until the first reply: one call asks for little. */
export const unknownLimit = /* @__PURE__ */ limitOf(1, 1);
