import fc from 'fast-check';
import { type LimitSpec, record } from './specs.ts';
import { waitingClients } from './waitingClients.ts';

/** The milliseconds of a permit from which on permits can be rare. */
const leastLoads = fc.constantFrom(100, 200, 500);
const rate = { permits: fc.integer({ min: 1, max: 3 }), interval: fc.integer({ min: 600, max: 3000 }) };
const limit: fc.Arbitrary<LimitSpec> = fc.oneof(
  record({
    kind: fc.constant('slidingWindow' as const),
    ...rate,
    resolution: fc.integer({ min: 1, max: 20 }),
  }),
  record({
    kind: fc.constant('fixedWindow' as const),
    ...rate,
    align: fc.constantFrom('first' as const, 'epoch' as const),
  }),
  record({ kind: fc.constant('tokenBucket' as const), ...rate, burst: fc.integer({ min: 1, max: 3 }) }),
);

const atBound = fc
  .tuple(limit, leastLoads)
  .map(([spec, load]): LimitSpec => ({ ...spec, interval: spec.permits * load }));

/** Histories of clients that request rare permits, and refund most of them. */
export const scarce = waitingClients({
  limit: fc.oneof(limit, atBound),
  us: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 1000 }).map((ms) => ms * 1000) },
  ),
  most: 2,
  held: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3000 })),
  advances: 5,
});
