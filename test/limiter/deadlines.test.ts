import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Deadlines } from '../../src/limiter/deadlines.ts';
import { Entry } from '../../src/limiter/entry.ts';
import type { Waiter } from '../../src/limiter/line.ts';
import { promise } from '../support/campaign.ts';

const nobody = {} as Waiter<unknown>;
const entryAt = (deadline: number) => new Entry(nobody, [1], 1, deadline, deadline, undefined);

/** The deadlines in the order in which they come up. */
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

const sorted = (entries: Iterable<Entry>) =>
  [...entries].map(({ deadline }) => deadline).sort((a, b) => a - b);

promise(
  'whoever leaves, the next to run out of time is the first',
  500,
  fc.record({
    deadlines: fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 40 }),
    leaving: fc.array(fc.nat(), { maxLength: 30 }),
  }),
  ({ deadlines, leaving }) => {
    const heap = new Deadlines();
    const entries = deadlines.map(entryAt);
    for (const entry of entries) heap.add(entry);
    const left = new Set(entries);
    for (const pick of leaving) {
      if (entries.length === 0) break;
      const entry = entries[pick % entries.length];
      // One that has left may leave again.
      heap.remove(entry);
      left.delete(entry);
      assert.is(heap.next, Math.min(Infinity, ...sorted(left)));
    }
    assert.equal(drained(heap), sorted(left));
  },
);

test('who takes the place of one that leaves may belong in front of those above it', () => {
  // As a heap: 0; 10, 1; 20, 21, 2, 3. The last, 3, comes below 10 where 20 was.
  const entries = [0, 10, 1, 20, 21, 2, 3].map(entryAt);
  const heap = new Deadlines();
  for (const entry of entries) heap.add(entry);
  heap.remove(entries[3]);
  assert.equal(drained(heap), [0, 1, 2, 3, 10, 21]);
});

test.run();
