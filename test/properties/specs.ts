import fc from 'fast-check';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';

/** A limit as plain data: a history can be printed, saved and replayed on another store. */
export type LimitSpec =
  | { kind: 'slidingWindow'; permits: number; interval: number; resolution: number }
  | { kind: 'fixedWindow'; permits: number; interval: number; align: 'first' | 'epoch' }
  | { kind: 'tokenBucket'; permits: number; interval: number; burst: number };

export function limitOf({ kind, ...options }: LimitSpec): Limit {
  if (kind === 'slidingWindow') return slidingWindow(options);
  if (kind === 'fixedWindow') return fixedWindow(options);
  return tokenBucket(options);
}

/** The highest cost that the limit can grant to one request. */
export function mostOf(spec: LimitSpec): number {
  return spec.kind === 'tokenBucket' ? spec.burst : spec.permits;
}

/** Plain objects: by default, some of fast-check's have no prototype. */
export function record<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record<T>(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

// Small numbers, so that a short history fills its windows.
const permits = fc.integer({ min: 1, max: 8 });
const interval = fc.integer({ min: 1, max: 60 });

export const exactSlidingWindows: fc.Arbitrary<LimitSpec> = record({
  kind: fc.constant('slidingWindow'),
  permits,
  interval,
  resolution: fc.constant(1),
});

export const coarseSlidingWindows: fc.Arbitrary<LimitSpec> = record({
  kind: fc.constant('slidingWindow' as const),
  permits,
  interval,
  resolution: fc.integer({ min: 2, max: 60 }),
}).map((spec) => ({ ...spec, resolution: Math.min(spec.resolution, spec.interval) }));

export const fixedWindows = (align: 'first' | 'epoch'): fc.Arbitrary<LimitSpec> =>
  record({ kind: fc.constant('fixedWindow'), permits, interval, align: fc.constant(align) });

export const tokenBuckets: fc.Arbitrary<LimitSpec> = record({
  kind: fc.constant('tokenBucket'),
  permits,
  interval,
  burst: fc.integer({ min: 1, max: 12 }),
});

export const leakyBuckets: fc.Arbitrary<LimitSpec> = record({
  kind: fc.constant('tokenBucket'),
  permits,
  interval,
  burst: fc.constant(1),
});

export const anyLimit: fc.Arbitrary<LimitSpec> = fc.oneof(
  exactSlidingWindows,
  coarseSlidingWindows,
  fixedWindows('first'),
  fixedWindows('epoch'),
  tokenBuckets,
  leakyBuckets,
);

export const fewLimits: fc.Arbitrary<readonly LimitSpec[]> = fc.array(anyLimit, {
  minLength: 1,
  maxLength: 3,
});
