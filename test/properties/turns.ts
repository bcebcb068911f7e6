import fc from 'fast-check';
import { type LimitSpec, record } from './specs.ts';
import { waitingClients } from './waitingClients.ts';

const permits = fc.integer({ min: 70, max: 120 });
const interval = fc.integer({ min: 3000, max: 6000 });
const window: fc.Arbitrary<LimitSpec> = fc.oneof(
  record({
    kind: fc.constant('slidingWindow' as const),
    ...{ permits, interval, resolution: fc.integer({ min: 1, max: 20 }) },
  }),
  record({
    kind: fc.constant('fixedWindow' as const),
    ...{ permits, interval, align: fc.constantFrom('first' as const, 'epoch' as const) },
  }),
);
/** Histories of clients that wait for windows that were used up at once, and whose permits come back meanwhile. */
export const takingTurns = waitingClients({
  limit: window,
  us: fc.oneof(
    fc.integer({ min: 0, max: 20_000 }),
    fc.integer({ min: 50, max: 1200 }).map((ms) => ms * 1000),
  ),
  most: 40,
  held: fc.constant(0),
  advances: 4,
  first: 120,
});
