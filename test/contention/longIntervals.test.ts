// Windows of ten seconds and more of which clients refund 90 %, in virtual time: they keep nearly all that one queue would keep.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { cases } from '../support/cases.ts';
import { againstIdeal, manyWindows } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { contend, waits } from './contend.ts';

const fleets = [
  [1000, 10_000, 3, 1],
  [1000, 60_000, 16, 1],
  [300, 10_000, 16, 4],
  [300, 10_000, 64, 1],
  [50, 10_000, 3, 4],
  [50, 10_000, 64, 1],
] as const;
for (const [[permits, interval, clients, waiting], limitOf, refundWithin] of cases(
  fleets,
  [slidingWindow, fixedWindow],
  [5, 500, 3000],
))
  test(`${clients} clients with ${waiting} queued requests keep a ${limitOf.name} of ${permits} in ${interval} ms, 90 % refunded within ${refundWithin} ms`, () => {
    // Of few kept permits, chance decides how many are whose.
    const [seeds, jain] = permits > 100 ? [2, 0.9] : [8, 0.8];
    const habits = { ...waits, waiting, refund: 0.9, refundWithin };
    const limit = limitOf({ permits, interval });
    const during = { ...manyWindows(limit, 2 * interval), seeds };
    const compared = againstIdeal(limit, clients, habits, during);
    assertKept(compared, { part: 0.8, jain, calls: 8 });
  });

// A client that is behind others keeps a smaller claim to what they were granted, so they must not get far ahead.
for (const [[permits, interval, number, refundWithin], limitOf] of cases(
  [
    [1000, 20_000, 40, 6000],
    [1000, 9_900, 64, 3300],
  ],
  [slidingWindow, fixedWindow],
))
  test(`none of ${number} clients with 20 queued requests gets much less of a ${limitOf.name} of ${permits} in ${interval} ms than others`, () => {
    const limit = limitOf({ permits, interval });
    const clients = Array(number).fill({ ...waits, waiting: 20, refund: 0.6, refundWithin });
    const { kept } = contend({ limits: [limit], clients, ...manyWindows(limit, 60_000), seed: 1 });
    const own = kept.map(([n]) => n);
    const mean = own.reduce((sum, n) => sum + n, 0) / own.length;
    assert.ok(Math.min(...own) >= mean * 0.6, `${own}`);
  });

// If the others took permits again before its own had come together, it would never be granted any.
const large = [
  [slidingWindow, 100, 60_000, 100, 1],
  [slidingWindow, 500, 10_000, 500, 5],
  [slidingWindow, 50, 5_000, 50, 5],
  [tokenBucket, 100, 60_000, 50, 5],
] as const;
for (const [[limitOf, permits, interval, cost, waiting]] of cases(large))
  test(`a request for ${cost} of ${permits} permits in ${interval} ms comes beside a client that refunds most: ${limitOf.name}`, () => {
    const limits = [limitOf({ permits, interval })];
    const clients = [
      { ...waits, costs: [[cost]] },
      { ...waits, waiting, refund: 0.95, refundWithin: 100 },
    ];
    const span = 40 * interval;
    const { kept } = contend({ limits, clients, roundTrip: 2, warmUp: 3 * interval, span, seed: 1 });
    const share = (permits * span) / interval / 2;
    assert.ok(kept[0][0] >= share * 0.7, `${kept[0][0]} permits of ${share}`);
  });

test.run();
