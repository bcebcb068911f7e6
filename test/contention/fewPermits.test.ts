// Windows whose contenders have so many reservations that permits which come back find the next moments taken, in virtual time.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, slidingWindow } from '../../src/limits/limit.ts';
import { cases } from '../support/cases.ts';
import { againstIdeal, fleetAgainstIdeal, manyWindows } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { contend, half, waits } from './contend.ts';
import { besideWasteful } from './wasteful.ts';

type LimitOf = (permits: number, interval: number) => Limit;
const kinds: [kind: string, limitOf: LimitOf][] = [
  ['sliding window', (permits, interval) => slidingWindow({ permits, interval })],
  ['fixed window', (permits, interval) => fixedWindow({ permits, interval })],
];

const fleets = [
  [20, 50, 32],
  [5, 100, 8],
  [100, 100, 64],
  [10, 200, 16],
  [10, 250, 8],
  [3, 1000, 6],
  [5, 1000, 8],
  [6, 1000, 8],
  [20, 1000, 64],
  [30, 1000, 32],
  [50, 1000, 40],
  [50, 1000, 64],
  [80, 1000, 32],
  [100, 1000, 64],
  [150, 1000, 64],
  [250, 1000, 64],
] as const;
for (const [[permits, interval, clients], [kind, limitOf], refund] of cases(fleets, kinds, [0.3, 0.6, 0.9]))
  test(`${clients} clients keep a ${kind} of ${permits} in ${interval} ms, and refund ${refund * 100} % soon`, () => {
    const limit = limitOf(permits, interval);
    const during = { ...manyWindows(limit, 10_000), seeds: 4 };
    const habits = { ...waits, refund, refundWithin: 5 };
    assertKept(againstIdeal(limit, clients, habits, during), { part: 0.96, jain: 0.92, calls: 6 });
  });

// Beside large requests in a sliding window, small ones pass that the queue would keep waiting.
const large = [
  [100, 200, 16, [10], 0.95, 0.95],
  [100, 200, 16, [2, 8, 19], 1.4, 0.96],
  [1000, 50, 16, [8, 174, 422], 1, 0.88],
  [50, 1000, 16, [5], 0.96, 0.96],
] as const;
for (const [[permits, interval, clients, costs, ...least], [kind, limitOf], refundWithin] of cases(
  large,
  kinds,
  [5, 50],
))
  test(`${clients} clients that request ${costs.join(' or ')} keep a ${kind} of ${permits} in ${interval} ms, 90 % refunded within ${refundWithin} ms`, () => {
    const limit = limitOf(permits, interval);
    const habits = { ...waits, costs: costs.map((n) => [n]), refund: 0.9, refundWithin };
    const during = { ...manyWindows(limit, 10_000), seeds: 8 };
    const part = least[kind === 'sliding window' ? 0 : 1];
    assertKept(againstIdeal(limit, clients, habits, during), { part, jain: 0.9, calls: 7 });
  });

const lateCrowds = [
  [10, 200, 40],
  [14, 200, 64],
  [20, 200, 64],
] as const;
for (const [[permits, interval, clients], refund] of cases(lateCrowds, [0.5, 0.9]))
  test(`${clients} clients keep a fixed window of ${permits} in ${interval} ms, and refund ${refund * 100} % late`, () => {
    const limit = fixedWindow({ permits, interval });
    const during = { ...manyWindows(limit, 6000), seeds: 4 };
    const habits = { ...waits, refund, refundWithin: 70 };
    assertKept(againstIdeal(limit, clients, habits, during), { part: 0.9, jain: 0.85, calls: 7 });
  });

const crowds = [
  [20, 50, 32, 0.85],
  [10, 200, 16, 0.88],
  [20, 200, 64, 0.88],
  [30, 1000, 32, 0.88],
  [50, 1000, 64, 0.92],
  [100, 100, 64, 0.88],
] as const;
for (const [[permits, interval, clients, least], [kind, limitOf], refund, refundWithin] of cases(
  crowds,
  kinds,
  [0.3, 0.6, 0.9],
  [50, 500],
))
  test(`${clients} clients keep a ${kind} of ${permits} in ${interval} ms, and refund ${refund * 100} % within ${refundWithin} ms`, () => {
    const limit = limitOf(permits, interval);
    const during = { ...manyWindows(limit, 10_000), seeds: 4 };
    const compared = againstIdeal(limit, clients, { ...waits, refund, refundWithin }, during);
    // Of few kept permits, chance decides how many are whose.
    assertKept(compared, { part: least, jain: 0.85, calls: 8 });
  });

for (const [[kind, limitOf], refund] of cases(kinds, [0.3, 0.6, 0.9]))
  test(`none of 70 clients that refund ${refund * 100} % of a ${kind} of 20 a second waits for long`, () => {
    const during = { ...manyWindows(limitOf(20, 1000), 20_000), seeds: 2 };
    const { longest } = againstIdeal(limitOf(20, 1000), 70, { ...waits, refund, refundWithin: 5 }, during);
    assert.ok(longest < 12_000, `a request waited for ${longest} ms`);
  });

for (const [[kind, limitOf], refund] of cases(kinds, [0.3, 0.6]))
  test(`a client that calls no more does not stop 59 others that refund ${refund * 100} % of a ${kind}`, () => {
    const limit = limitOf(100, 1000);
    const habits = { ...waits, refund, refundWithin: 5 };
    const clients = [{ ...habits, blocked: 3000, period: 10_000 }, ...Array(59).fill(habits)];
    const { part } = fleetAgainstIdeal(limit, clients, { ...manyWindows(limit, 20_000), seeds: 4 });
    assert.ok(part >= 0.97, `${part} of the ideal`);
  });

for (const [[permits, clients], [kind, limitOf]] of cases(
  [
    [50, 24],
    [50, 40],
    [30, 40],
  ],
  kinds,
))
  test(`${clients} clients, half of which refund 90 % late, use a ${kind} of ${permits} a second in fair shares`, () => {
    const limit = limitOf(permits, 1000);
    const wasteful = { ...waits, refund: 0.9, refundWithin: 500 };
    const fleet = half(wasteful, clients);
    const during = { ...manyWindows(limit, 20_000), seeds: 4 };
    const { part, shares } = fleetAgainstIdeal(limit, fleet, during);
    const [least] = shares.filter((_, i) => i % 2 === 0).sort((a, b) => a - b);
    assert.ok(part >= 0.7, `${part} of the ideal`);
    assert.ok(least >= 0.9, `${least} of a fair share`);
  });

// Clients that wait in order, and refund late, leave what is free to those that were granted less, even permits ahead of the pace.
// In a fixed one, those that take turns keep a claim to what others are granted before they call again.
const halfFleets = [
  [30, 500, 16, 0.9, 0.92],
  [30, 500, 32, 0.95, 0.86],
  [30, 500, 64, 0.95, 0.94],
  [20, 1000, 20, 0.93, 0.93],
  [30, 1000, 40, 0.94, 0.92],
  [5, 1000, 8, 0.91, 0.92],
  [10, 1000, 64, 0.91, 0.84],
] as const;
for (const [[permits, interval, clients, ...least], [kind, limitOf]] of cases(halfFleets, kinds))
  test(`${clients} clients, half of which refund 90 % late, use a ${kind} of ${permits} in ${interval} ms`, () => {
    const wasteful = { ...waits, refund: 0.9, refundWithin: 500 };
    const fleet = half(wasteful, clients);
    const limit = limitOf(permits, interval);
    const { part } = fleetAgainstIdeal(limit, fleet, { ...manyWindows(limit, 20_000), seeds: 16 });
    assert.ok(part >= least[kind === 'sliding window' ? 0 : 1], `${part} of the ideal`);
  });

test('clients do not leave what is free of several limits to one that waits for another limit', () => {
  const limits = [
    slidingWindow({ permits: 20, interval: 1000 }),
    fixedWindow({ permits: 1, interval: 9000 }),
  ];
  const others = Array(30).fill({ ...waits, costs: [[1, 0]], refund: 0.5, refundWithin: 500 });
  const clients = [{ ...waits, costs: [[1, 1]] }, ...others];
  let kept = 0;
  for (let seed = 1; seed <= 4; seed++) {
    const outcome = contend({ limits, clients, roundTrip: 2, warmUp: 6000, span: 60_000, seed });
    for (const [n] of outcome.kept) kept += n;
  }
  // In place of half of it.
  assert.ok(kept >= 0.7 * 4 * 60 * 20, `${kept} permits`);
});

// The measure of single histories of so few permits varies.
for (const [[permits, clients], [kind, limitOf], refund] of cases(
  [
    [3, 6],
    [5, 8],
    [6, 8],
  ],
  kinds,
  [0.3, 0.6, 0.9],
))
  test(`${clients} clients keep a ${kind} of ${permits} a second, and refund ${refund * 100} % within half a second`, () => {
    const limit = limitOf(permits, 1000);
    const during = { ...manyWindows(limit, 60_000), seeds: 16 };
    const habits = { ...waits, refund, refundWithin: 500 };
    assertKept(againstIdeal(limit, clients, habits, during), { part: 0.92, calls: 6.5 });
  });

for (const [permits, [kind, limitOf]] of cases([1, 2, 3, 5], kinds))
  test(`a client that refunds 95 % late leaves two others their shares of a ${kind} of ${permits} a second`, () => {
    const limit = limitOf(permits, 1000);
    const during = { ...manyWindows(limit, 60_000), seeds: 16 };
    const { part, least } = besideWasteful(limit, { refund: 0.95, refundWithin: 500 }, 2, 1, during);
    assert.ok(least >= 0.9, `${least} of a fair share`);
    assert.ok(part >= 0.72, `${part} of the ideal`);
  });

for (const [permits, [kind, limitOf], others] of cases([3, 5, 7, 10], kinds, [1, 4]))
  test(`a client that waits for at most 10 ms leaves ${others} others their share of a ${kind} of ${permits} a second`, () => {
    const clients = [...Array(others).fill(waits), { ...waits, cancel: 1, cancelWithin: 10 }];
    let kept = 0;
    for (let seed = 1; seed <= 4; seed++) {
      const limits = [limitOf(permits, 1000)];
      const outcome = contend({ limits, clients, roundTrip: 2, warmUp: 3000, span: 30_000, seed });
      for (const [n] of outcome.kept.slice(0, others)) kept += n;
    }
    const share = (4 * 30 * permits * others) / (others + 1);
    assert.ok(kept >= 0.9 * share, `${kept} of ${share}`);
  });

test.run();
