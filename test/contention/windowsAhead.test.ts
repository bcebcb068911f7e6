// Fixed windows so short, or requests so large, that clients have reservations in several windows ahead, in virtual time.
import { test } from 'uvu';
import { fixedWindow } from '../../src/limits/limit.ts';
import { againstIdeal, manyWindows } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { waits } from './contend.ts';

const fleets = [
  [63, 878, 6, 7, [9, 7, 1], 0.46, 6],
  [4, 127, 7, 2, [1], 0.1, 81],
] as const;
for (const align of ['first', 'epoch'] as const)
  for (const [permits, interval, clients, waiting, costs, refund, refundWithin] of fleets)
    test(`${clients} clients that request ${costs.join(' or ')} keep a fixed window of ${permits} in ${interval} ms, aligned to ${align}, and refund ${refund * 100} % within ${refundWithin} ms`, () => {
      const limit = fixedWindow({ permits, interval, align });
      const habits = { ...waits, waiting, costs: costs.map((n) => [n]), refund, refundWithin };
      const compared = againstIdeal(limit, clients, habits, { ...manyWindows(limit, 8000), seeds: 8 });
      assertKept(compared, { part: 0.965, jain: 0.98, calls: 1.8 });
    });

test.run();
