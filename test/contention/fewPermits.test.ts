// Windows whose contenders have so many reservations that permits which come back find the next moments taken, in virtual time.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, slidingWindow } from '../../src/limits/limit.ts';
import { cases } from '../support/cases.ts';
import { againstIdeal, manyWindows } from './againstIdeal.ts';
import { contend, waits } from './contend.ts';

type LimitOf = (permits: number, interval: number) => Limit;
const kinds: [kind: string, limitOf: LimitOf][] = [
  ['sliding window', (permits, interval) => slidingWindow({ permits, interval })],
  ['fixed window', (permits, interval) => fixedWindow({ permits, interval })],
];

const fleets = [
  [5, 100, 8],
  [10, 250, 8],
  [3, 1000, 6],
  [5, 1000, 8],
  [6, 1000, 8],
  [20, 1000, 64],
  [50, 1000, 64],
  [100, 1000, 64],
] as const;
for (const [[permits, interval, clients], [kind, limitOf], refund] of cases(fleets, kinds, [0.3, 0.6, 0.9]))
  test(`${clients} clients keep a ${kind} of ${permits} in ${interval} ms, and refund ${refund * 100} % soon`, () => {
    const limit = limitOf(permits, interval);
    const during = { ...manyWindows(limit, 10_000), seeds: 4 };
    const habits = { ...waits, refund, refundWithin: 5 };
    const { part, jain, calls } = againstIdeal(limit, clients, habits, during);
    // Slow requests take turns in a sliding window if they did before.
    assert.ok(part >= (kind === 'sliding window' ? 0.9 : 0.96), `${part} of the ideal`);
    assert.ok(jain >= 0.92, `Jain's index is ${jain}`);
    assert.ok(calls < 5, `${calls} calls a permit`);
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
    const { part, calls } = againstIdeal(limit, clients, habits, during);
    assert.ok(part >= 0.93, `${part} of the ideal`);
    assert.ok(calls < 6.5, `${calls} calls a permit`);
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
