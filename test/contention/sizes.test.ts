// Clients whose requests differ in size, of which a part is refunded, in virtual time.
import { test } from 'uvu';
import { fixedWindow, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { cases } from '../support/cases.ts';
import { fleetAgainstIdeal, manyWindows } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { bySize } from './contend.ts';

// If each grant sent its client behind the others, those with small requests kept a half to a sixth of what the others kept.
const fleets = [
  [slidingWindow, 2, [5, 50], 0.1, 5, { part: 0.88, jain: 0.98, calls: 1.4 }],
  [slidingWindow, 4, [5, 50], 0.1, 5, { part: 0.82, jain: 0.98, calls: 1.4 }],
  [fixedWindow, 2, [5, 50], 0.1, 5, { part: 0.95, jain: 0.98, calls: 1.4 }],
  [fixedWindow, 2, [5, 50], 0.5, 5, { part: 0.97, jain: 0.93, calls: 1.8 }],
  [fixedWindow, 4, [5, 50], 0.1, 5, { part: 0.95, jain: 0.97, calls: 1.4 }],
  [tokenBucket, 4, [1, 25], 0.5, 5, { part: 0.97, jain: 0.94, calls: 0.9 }],
  [tokenBucket, 4, [5, 50], 0.6, 1000, { part: 0.87, jain: 0.84, calls: 2 }],
] as const;
for (const [[limitOf, number, sizes, refund, refundWithin, bounds]] of cases(fleets))
  test(`${number} clients with requests for ${sizes.join(' or ')} of 100 permits share them, ${refund * 100} % refunded: ${limitOf.name}`, () => {
    const limit = limitOf({ permits: 100, interval: 1000 });
    const clients = bySize({ refund, refundWithin }, sizes, number, 100);
    assertKept(fleetAgainstIdeal(limit, clients, { ...manyWindows(limit, 20_000), seeds: 3 }), bounds);
  });

test.run();
