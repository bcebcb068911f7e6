import type { LimitSpec } from '../properties/specs.ts';

/** The limits of a soak, by the names of their limiters. */
export const limits: Record<string, LimitSpec> = {
  slidingWindow: { kind: 'slidingWindow', permits: 50, interval: 500, resolution: 1 },
  tokenBucket: { kind: 'tokenBucket', permits: 50, interval: 500, burst: 20 },
  fixedWindow: { kind: 'fixedWindow', permits: 50, interval: 500, align: 'epoch' },
};
