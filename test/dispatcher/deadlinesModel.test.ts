import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Deadlines } from '../../src/dispatcher/deadlines.ts';
import { Request } from '../../src/dispatcher/request.ts';
import type { Waiter } from '../../src/port/line.ts';
import { promise } from '../support/campaign.ts';

const nobody = {} as Waiter<unknown>;
const entryAt = (deadline: number) => new Request(nobody, [1], 1, 1, deadline, undefined);

/** The deadlines in order. */
function drained(deadlines: Deadlines): number[] {
  const found: number[] = [];
  for (let first = deadlines.first; first; first = deadlines.first) {
    assert.is(deadlines.next, first.deadline);
    found.push(first.deadline);
    deadlines.remove(first);
  }
  assert.is(deadlines.next, Infinity);
  return found;
}

const sorted = (requests: Iterable<Request>) =>
  [...requests].map(({ deadline }) => deadline).sort((a, b) => a - b);

/** A deadline to add, or the index of one to remove. */
const move = fc.oneof(
  fc.record({ deadline: fc.integer({ min: 0, max: 50 }) }),
  fc.record({ leaves: fc.nat() }),
);

promise(
  'after any additions and removals, the first request is the next to expire',
  1000,
  fc.array(move, { maxLength: 60, size: 'max' }),
  (moves) => {
    const heap = new Deadlines();
    const requests: Request[] = [];
    const left = new Set<Request>();
    for (const one of moves) {
      if ('deadline' in one) {
        const request = entryAt(one.deadline);
        requests.push(request);
        left.add(request);
        heap.add(request);
      } else if (requests.length > 0) {
        // A removed request may be removed again.
        const request = requests[one.leaves % requests.length];
        left.delete(request);
        heap.remove(request);
      }
      assert.is(heap.next, Math.min(Infinity, ...sorted(left)));
    }
    assert.equal(drained(heap), sorted(left));
  },
);

test('a request that fills a removed place may rise above its parents', () => {
  // As a heap: 0; 10, 1; 20, 21, 2, 3. The last, 3, comes below 10 where 20 was.
  const requests = [0, 10, 1, 20, 21, 2, 3].map(entryAt);
  const heap = new Deadlines();
  for (const request of requests) heap.add(request);
  heap.remove(requests[3]);
  // Otherwise the last one, which moves down from the top when the first is removed, would repair the order.
  for (const later of [50, 51, 52]) heap.add(entryAt(later));
  assert.equal(drained(heap), [0, 1, 2, 3, 10, 21, 50, 51, 52]);
});

test.run();
