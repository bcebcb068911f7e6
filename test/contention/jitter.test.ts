// Clients whose round trips vary, and whose reservations are made void by refunds.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, slidingWindow } from '../../src/limits/limit.ts';
import { contend, waits } from './contend.ts';
import { mostKept } from './mostKept.ts';

const permits = 50;
const interval = 1000;

const windows = [
  [
    'a sliding window',
    slidingWindow({ permits, interval, resolution: 1 }),
    (end: number) => end - interval + 1,
  ],
  [
    'a fixed window',
    fixedWindow({ permits, interval, align: 'epoch' }),
    (end: number) => end - (end % interval),
  ],
] as const;

const habits = { ...waits, waiting: 30, costs: [[1], [25]], refund: 0.3, part: 0.5 };
const clients = Array.from({ length: 16 }, () => habits);
for (const [kind, limit, begins] of windows)
  test(`${kind} is not exceeded, although one round trip takes twice as long as another`, () => {
    let granted = 0;
    for (let seed = 1; seed <= 16; seed++) {
      const contention = {
        limits: [limit],
        clients,
        roundTrip: 300,
        jitter: 1,
        warmUp: 0,
        span: 12_000,
        seed,
      };
      const outcome = contend(contention);
      granted += outcome.granted;
      const most = mostKept(outcome, begins);
      assert.ok(most <= permits, `${most} of ${permits} permits, with the seed ${seed}`);
    }
    assert.ok(granted > 16 * 40, `${granted} requests`);
  });

test.run();
