// Clients that receive replies late, because event loops are blocked or calls take seconds, while reservations become void.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { slidingWindow } from '../../src/limits/limit.ts';
import { contend, waits } from './contend.ts';
import { mostKept } from './mostKept.ts';

const [permits, interval] = [50, 1000];
const limits = [slidingWindow({ permits, interval, resolution: 1 })];
const habits = { ...waits, waiting: 30, costs: [[1], [25]], refund: 0.3, part: 0.5 };

for (const [what, roundTrip, blocked, least] of [
  ['calls take two to four seconds', 2000, 0, 700],
  ['calls take seconds, and half of the event loops are blocked for four', 2000, 4000, 650],
  ['half of the event loops are blocked for four seconds', 300, 4000, 1000],
] as const)
  test(`a sliding window is not exceeded, although ${what}`, () => {
    const clients = Array.from({ length: 16 }, (_, i) => {
      const isBlocked = i % 2 === 1;
      return { ...habits, blocked: isBlocked ? blocked : 0, period: 9000 + 500 * i };
    });
    let granted = 0;
    for (let seed = 1; seed <= 8; seed++) {
      const outcome = contend({ limits, clients, roundTrip, jitter: 1, warmUp: 0, span: 40_000, seed });
      const most = mostKept(outcome, (end) => end - interval + 1);
      assert.ok(most <= permits, `${most} of ${permits} permits, with the seed ${seed}`);
      granted += outcome.granted;
    }
    assert.ok(granted >= least, `${granted} requests`);
  });

test.run();
