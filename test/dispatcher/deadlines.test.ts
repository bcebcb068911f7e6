import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Deadlines } from '../../src/dispatcher/deadlines.ts';
import { Request } from '../../src/dispatcher/request.ts';
import { recorder } from '../support/lines.ts';

const entryDue = (deadline: number) => new Request(recorder(), [1], 1, deadline, deadline, undefined);

/** Positive numbers are deadlines to add; the others choose the deadline to remove. */
const steps = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 99 }) }, fc.integer({ min: -99, max: 0 })),
  {
    maxLength: 80,
  },
);

test('the next deadline is the least of the heap, whichever requests were removed', () =>
  fc.assert(
    fc.property(steps, (numbers) => {
      const deadlines = new Deadlines();
      const there: Request[] = [];
      for (const number of numbers) {
        if (number > 0) {
          there.push(entryDue(number));
          deadlines.add(there[there.length - 1]);
        } else if (there.length > 0) deadlines.remove(there.splice(-number % there.length, 1)[0]);
        assert.is(deadlines.next, Math.min(...there.map(({ deadline }) => deadline)));
      }
      const left = there.map(({ deadline }) => deadline).sort((a, b) => a - b);
      assert.equal(drain(deadlines), left);
    }),
    { numRuns: 500 },
  ));

test('a request that fills a removed place rises if its deadline is earlier', () => {
  const deadlines = new Deadlines();
  // The last element, 30, fills the place of 600, below 500.
  const heap = [10, 500, 20, 600, 510, 40, 25, 610, 620, 520, 530, 45, 46, 47, 30].map(entryDue);
  for (const request of heap) deadlines.add(request);
  deadlines.remove(heap[3]);
  assert.equal(drain(deadlines), [10, 20, 25, 30, 40, 45, 46, 47, 500, 510, 520, 530, 610, 620]);
});

/** Removes all, in order of their deadlines. */
function drain(deadlines: Deadlines): number[] {
  const order: number[] = [];
  for (let { first } = deadlines; first; { first } = deadlines) {
    order.push(first.deadline);
    deadlines.remove(first);
  }
  return order;
}

test.run();
