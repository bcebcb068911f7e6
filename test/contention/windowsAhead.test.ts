// Fixed windows so short, or requests so large, that clients have reservations in several windows ahead, in virtual time.
import { test } from 'uvu';
import { fixedWindow, slidingWindow } from '../../src/limits/limit.ts';
import { againstIdeal, fleetAgainstIdeal, manyWindows } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { waits } from './contend.ts';

const fleets = [
  [63, 878, 6, 7, [9, 7, 1], 0.46, 6, 1.8],
  [4, 127, 7, 2, [1], 0.1, 81, 1.8],
  // Refunds let reservations move up that are more than two seconds ahead, in the middle of a window.
  [216, 3231, 11, 2, [7, 21, 23], 0.09, 7, 3.2],
] as const;
for (const align of ['first', 'epoch'] as const)
  for (const [permits, interval, clients, waiting, costs, refund, refundWithin, calls] of fleets)
    test(`${clients} clients that request ${costs.join(' or ')} keep a fixed window of ${permits} in ${interval} ms, aligned to ${align}, and refund ${refund * 100} % within ${refundWithin} ms`, () => {
      const limit = fixedWindow({ permits, interval, align });
      const habits = { ...waits, waiting, costs: costs.map((n) => [n]), refund, refundWithin };
      const compared = againstIdeal(limit, clients, habits, {
        ...manyWindows(limit, 4 * interval + 8000),
        seeds: 8,
      });
      assertKept(compared, { part: 0.965, jain: 0.98, calls });
    });

test('14 clients keep a record of windows of 228 in 1839 ms and 58 in 272 ms, and refund 8 % within 245 ms', () => {
  const limits = [
    fixedWindow({ permits: 228, interval: 1839 }),
    slidingWindow({ permits: 58, interval: 272 }),
  ];
  const costs = [
    [13, 3],
    [9, 2],
    [21, 5],
  ];
  const habits = { ...waits, waiting: 20, costs, refund: 0.08, refundWithin: 245 };
  const during = { ...manyWindows(limits[0], 16_000), seeds: 4 };
  const compared = fleetAgainstIdeal(limits, Array(14).fill(habits), during);
  assertKept(compared, { part: 0.965, jain: 0.97, calls: 2.3 });
});

test.run();
