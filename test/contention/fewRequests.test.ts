// Limits of so few requests in a short interval that reservations would leave unused what comes back to them, in virtual time.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { cases } from '../support/cases.ts';
import { type Habits, waits } from './contend.ts';
import { wordsOf } from './limitWords.ts';
import { usedBy } from './usedFleet.ts';
import { besideWasteful } from './wasteful.ts';

const during = { roundTrip: 2, warmUp: 3000, span: 8000, seeds: 3 };

/** What a client keeps beside another one, as a part of its share. */
function keptBeside(limit: Limit, habits: Partial<Habits>): number {
  return besideWasteful(limit, habits, 1, 1, during).least;
}

for (const [[permits, interval, refundWithin, least]] of cases([
  [4, 150, 75, 1.7],
  [15, 590, 295, 1.7],
  [10, 1000, 500, 1.7],
  [50, 5000, 2500, 1.7],
] as const))
  test(`of a bucket of ${permits} in ${interval} ms, a client also keeps what another one refunds within ${refundWithin} ms`, () => {
    const kept = keptBeside(tokenBucket({ permits, interval }), { refund: 0.95, refundWithin });
    assert.ok(kept >= least, `${kept} of its share`);
  });

for (const [[limitOf, permits, interval, least]] of cases([
  [slidingWindow, 8, 200, 1.45],
  [slidingWindow, 15, 590, 1.55],
  [slidingWindow, 30, 500, 1.7],
  [fixedWindow, 8, 200, 1.62],
  [fixedWindow, 16, 120, 1.75],
] as const))
  test(`of ${permits} in ${interval} ms, a client also keeps what another one refunds soon: ${limitOf.name}`, () => {
    const kept = keptBeside(limitOf({ permits, interval }), { refund: 0.95, refundWithin: 5 });
    assert.ok(kept >= least, `${kept} of its share`);
  });

for (const [limitOf, cancelWithin] of cases([slidingWindow, fixedWindow, tokenBucket], [10, 100]))
  test(`of few permits, one that keeps cancelling within ${cancelWithin} ms leaves another its share: ${limitOf.name}`, () => {
    const kept = keptBeside(limitOf({ permits: 15, interval: 590 }), { cancel: 1, cancelWithin });
    assert.ok(kept >= 0.95, `${kept} of its share`);
  });

const fleets: [limit: Limit, clients: number, habits: Partial<Habits>, least: number][] = [
  [
    tokenBucket({ permits: 79, interval: 239 }),
    7,
    { waiting: 5, costs: [[6], [2], [3]], cancel: 0.48, cancelWithin: 123, refund: 0.86, refundWithin: 38 },
    0.95,
  ],
  [tokenBucket({ permits: 9, interval: 168 }), 7, { waiting: 7, refund: 0.86, refundWithin: 52 }, 0.95],
  [slidingWindow({ permits: 15, interval: 317 }), 3, { waiting: 31, refund: 0.81, refundWithin: 6 }, 0.975],
  [fixedWindow({ permits: 5, interval: 307 }), 5, { waiting: 6, refund: 0.87, refundWithin: 295 }, 0.94],
  [
    fixedWindow({ permits: 100, interval: 300 }),
    5,
    { waiting: 6, costs: [[19], [13]], refund: 0.8, refundWithin: 300 },
    0.95,
  ],
  // Of a permit that comes back late, a part counts as kept, so little more than half of these seems to be.
  [
    fixedWindow({ permits: 12, interval: 145, align: 'epoch' }),
    3,
    { costs: [[2], [1], [1]], refund: 0.78, refundWithin: 152 },
    0.94,
  ],
  [
    slidingWindow({ permits: 9, interval: 275 }),
    2,
    { waiting: 2, cancel: 0.79, cancelWithin: 321, refund: 0.57, refundWithin: 134 },
    0.95,
  ],
  [
    slidingWindow({ permits: 8, interval: 120 }),
    3,
    { waiting: 3, cancel: 0.58, cancelWithin: 58, refund: 0.47, refundWithin: 35 },
    0.95,
  ],
];
for (const [[limit, clients, habits, least]] of cases(fleets))
  test(`${clients} clients use a ${wordsOf(limit)} of which most are refunded`, () => {
    const { part, jain } = usedBy({ limits: [limit], clients, habits: { ...waits, ...habits }, name: '' });
    assert.ok(part >= least, `${part} of one queue`);
    assert.ok(jain >= 0.95, `Jain's index is ${jain}`);
  });

// At 1/0.8 of its rate, little of a short window would be granted again before it ends: they kept 0.88.
for (const clients of [2, 4])
  test(`${clients} clients use a fixed window of few requests of which half comes back late`, () => {
    const habits = { ...waits, waiting: 4, refund: 0.5, refundWithin: 200 };
    const limits = [fixedWindow({ permits: 8, interval: 200 })];
    const { part, jain } = usedBy({ limits, clients, habits, name: '' });
    assert.ok(part >= 0.925, `${part} of one queue`);
    assert.ok(jain >= 0.98, `Jain's index is ${jain}`);
  });

const inTurns: [limit: Limit, clients: number, habits: Partial<Habits>, least: number][] = [
  [slidingWindow({ permits: 15, interval: 120 }), 5, { waiting: 3, refund: 0.41, refundWithin: 70 }, 0.95],
  [slidingWindow({ permits: 10, interval: 250 }), 2, { waiting: 2, refund: 0.3, refundWithin: 134 }, 0.94],
  [
    slidingWindow({ permits: 20, interval: 351 }),
    8,
    { waiting: 37, cancel: 0.7, cancelWithin: 132, refund: 0.22, refundWithin: 40 },
    0.96,
  ],
];
for (const [[limit, clients, habits, least]] of cases(inTurns))
  test(`${clients} clients that take turns call often enough for a ${wordsOf(limit)}`, () => {
    const fleet = { limits: [limit], clients, habits: { ...waits, ...habits }, name: '' };
    const { part, jain, calls } = usedBy(fleet);
    assert.ok(part >= least, `${part} of one queue`);
    assert.ok(jain >= 0.95, `Jain's index is ${jain}`);
    assert.ok(calls <= 1.2, `${calls} calls a permit`);
  });

test.run();
