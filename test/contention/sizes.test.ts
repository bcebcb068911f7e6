// Clients whose requests differ in size, in virtual time.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { runsOf } from '../support/campaign.ts';
import { cases } from '../support/cases.ts';
import { seed } from '../support/seed.mjs';
import { fleetAgainstIdeal, manyWindows } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { bySize } from './contend.ts';
import { unlikeFleet } from './unlikeFleet.ts';

// If each grant sent its client behind the others, those with small requests kept a half to a sixth of what the others kept. If these
// were granted what comes back whenever they call, four clients shared at an index of 0.72 to 0.91.
const fleets = [
  [slidingWindow, 2, [5, 50], 0.1, 5, { part: 0.88, jain: 0.98, calls: 1.4 }],
  [slidingWindow, 4, [5, 50], 0.1, 5, { part: 0.82, jain: 0.98, calls: 1.4 }],
  [slidingWindow, 4, [5, 50], 0.5, 5, { part: 0.97, jain: 0.95, calls: 1.6 }],
  [slidingWindow, 4, [1, 25], 0.5, 5, { part: 0.97, jain: 0.95, calls: 1.1 }],
  [slidingWindow, 4, [5, 50], 0.6, 1000, { part: 0.95, jain: 0.96, calls: 2.2 }],
  [slidingWindow, 4, [1, 25], 0.6, 1000, { part: 0.97, jain: 0.95, calls: 2.2 }],
  [fixedWindow, 2, [5, 50], 0.1, 5, { part: 0.95, jain: 0.98, calls: 1.4 }],
  [fixedWindow, 2, [5, 50], 0.5, 5, { part: 0.97, jain: 0.98, calls: 1.8 }],
  [fixedWindow, 4, [5, 50], 0.1, 5, { part: 0.95, jain: 0.97, calls: 1.4 }],
  [fixedWindow, 4, [5, 50], 0.5, 5, { part: 0.97, jain: 0.96, calls: 1.8 }],
  [fixedWindow, 4, [1, 25], 0.5, 5, { part: 0.97, jain: 0.94, calls: 1.1 }],
  [fixedWindow, 4, [5, 50], 0.6, 1000, { part: 0.97, jain: 0.96, calls: 1.9 }],
  [fixedWindow, 4, [1, 25], 0.6, 1000, { part: 0.97, jain: 0.95, calls: 1.9 }],
  [tokenBucket, 2, [1, 25], 0.5, 5, { part: 0.98, jain: 0.97, calls: 0.9 }],
  [tokenBucket, 4, [5, 50], 0.5, 5, { part: 0.96, jain: 0.94, calls: 1.8 }],
  [tokenBucket, 4, [1, 25], 0.5, 5, { part: 0.98, jain: 0.96, calls: 1 }],
  [tokenBucket, 4, [1, 25], 0.6, 1000, { part: 0.95, jain: 0.96, calls: 1.3 }],
  [tokenBucket, 4, [5, 50], 0.6, 1000, { part: 0.95, jain: 0.97, calls: 2.2 }],
] as const;
for (const [[limitOf, number, sizes, refund, refundWithin, bounds]] of cases(fleets))
  test(`${number} clients with requests for ${sizes.join(' or ')} of 100 permits share them, ${refund * 100} % refunded within ${refundWithin} ms: ${limitOf.name}`, () => {
    const limit = limitOf({ permits: 100, interval: 1000 });
    const clients = bySize({ refund, refundWithin }, sizes, number, 100);
    assertKept(fleetAgainstIdeal(limit, clients, { ...manyWindows(limit, 20_000), seeds: 8 }), bounds);
  });

// If small requests took each permit that comes back, the index would be 0.5 to 0.73, and large ones not granted at all.
for (const [limitOf, number, sizes, refund, refundWithin, bounds] of [
  [tokenBucket, 2, [1, 20], 0.9, 60, { part: 0.97, jain: 0.98, calls: 0.9 }],
  [tokenBucket, 6, [1, 5], 0.8, 100, { part: 0.97, jain: 0.98, calls: 2.3 }],
  [slidingWindow, 2, [1, 20], 0.9, 60, { part: 1, jain: 0.97, calls: 1 }],
] as const)
  test(`${number} clients share a ${limitOf.name} with requests for ${sizes.join(' or ')} permits, most of which are refunded`, () => {
    const limit = limitOf({ permits: 100, interval: 1000 });
    const clients = bySize({ refund, refundWithin }, sizes, number, 100);
    assertKept(fleetAgainstIdeal(limit, clients, { ...manyWindows(limit, 15_000), seeds: 3 }), bounds);
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

/** Of fewer fleets, chance decides too much of the mean. */
const many = 40;

test('clients of any fleet whose requests differ in size share a limit', () => {
  const number = runsOf(many);
  let total = 0;
  for (let i = 0; i < number; i++) {
    const { limit, clients, name, during } = unlikeFleet(seed() + i);
    const { part, jain } = fleetAgainstIdeal(limit, clients, during);
    const which = `SLUICE_SEED=${seed() + i} SLUICE_RUNS=1: ${name}`;
    assert.ok(part >= 0.7, `${part} of what one queue would keep, ${which}`);
    // Those with the larger requests of a bucket, most of which come back late, or are cancelled, keep most.
    assert.ok(jain >= 0.6, `Jain's index is ${jain}, ${which}`);
    total += jain;
  }
  if (number >= many) assert.ok(total >= 0.96 * number, `a mean index of ${total / number}`);
});

test.run();
