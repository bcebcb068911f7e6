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

/** A deadline that comes, or one of those that have come, that leaves. */
const move = fc.oneof(
  fc.record({ deadline: fc.integer({ min: 0, max: 50 }) }),
  fc.record({ leaves: fc.nat() }),
);

promise(
  'whoever comes and leaves, the next to run out of time is the first',
  1000,
  fc.array(move, { maxLength: 60, size: 'max' }),
  (moves) => {
    const heap = new Deadlines();
    const entries: Entry[] = [];
    const left = new Set<Entry>();
    for (const one of moves) {
      if ('deadline' in one) {
        const entry = entryAt(one.deadline);
        entries.push(entry);
        left.add(entry);
        heap.add(entry);
      } else if (entries.length > 0) {
        // One that has left may leave again.
        const entry = entries[one.leaves % entries.length];
        left.delete(entry);
        heap.remove(entry);
      }
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
  // Else the last, which sinks from the top whenever the first leaves, would set it right.
  for (const later of [50, 51, 52]) heap.add(entryAt(later));
  assert.equal(drained(heap), [0, 1, 2, 3, 10, 21, 50, 51, 52]);
});

test.run();
