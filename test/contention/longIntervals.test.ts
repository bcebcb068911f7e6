// Windows of ten seconds and more of which clients refund 90 %, in virtual time: they keep nearly all that one queue would keep.
import { test } from 'uvu';
import { fixedWindow, slidingWindow } from '../../src/limits/limit.ts';
import { cases } from '../support/cases.ts';
import { againstIdeal, manyWindows } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { waits } from './contend.ts';

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
    assertKept(compared, { part: 0.9, jain, calls: 8 });
  });

test.run();
