import fc from 'fast-check';
import { type LimitSpec, record } from './specs.ts';
import { waitingClients } from './waitingClients.ts';

const bucket: fc.Arbitrary<LimitSpec> = record({
  kind: fc.constant('tokenBucket' as const),
  permits: fc.integer({ min: 1, max: 3 }),
  interval: fc.integer({ min: 3, max: 20 }),
  burst: fc.integer({ min: 1, max: 15 }),
});

/** Histories of buckets that are seldom full, with more grants and reservations than a ledger keeps apart, and pauses between them. */
export const manyGrants = waitingClients({
  limit: bucket,
  us: fc.oneof(
    fc.integer({ min: 0, max: 20_000 }),
    fc.integer({ min: 20, max: 120 }).map((ms) => ms * 1000),
  ),
  most: 20,
  held: fc.constant(0),
  advances: 6,
  first: 15,
  pauses: 1,
});
