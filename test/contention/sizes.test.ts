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

// If the smaller ones reserved two requests for each of the larger ones, the index would be 0.91 to 0.93.
const near = [
  [fixedWindow, 1517, 4861, 2, [30, 28], 2],
  [fixedWindow, 120, 568, 6, [41, 36], 3],
  [slidingWindow, 694, 2992, 2, [64, 72], 3],
  [slidingWindow, 100, 1000, 2, [9, 10], 3],
  [tokenBucket, 100, 1000, 2, [20, 19], 2],
] as const;
for (const [[limitOf, permits, interval, number, sizes, waiting]] of cases(near))
  test(`${number} clients with requests for ${sizes.join(' or ')} of ${permits} permits in ${interval} ms share them, though none is refunded: ${limitOf.name}`, () => {
    const limit = limitOf({ permits, interval });
    const clients = bySize({}, sizes, number, 0).map((habits) => ({ ...habits, waiting }));
    const during = { ...manyWindows(limit, 20_000), seeds: 3 };
    assertKept(fleetAgainstIdeal(limit, clients, during), { part: 0.98, jain: 0.98, calls: 1.2 });
  });

test.run();
