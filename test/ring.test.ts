import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Ring } from '../src/ring.ts';
import { runsOf } from './support/campaign.ts';

const test = suite('Ring');

test('it gives values back in the order in which they came', () => {
  const ring = new Ring<string>();
  for (const value of ['a', 'b', 'c']) ring.push(value);
  assert.is(ring.length, 3);
  assert.is(ring.peek(), 'a');
  assert.is(ring.length, 3);
  assert.equal([ring.shift(), ring.shift(), ring.shift()], ['a', 'b', 'c']);
  assert.is(ring.length, 0);
});

test('it keeps undefined as a value', () => {
  const ring = new Ring<undefined>();
  ring.push(undefined);
  assert.is(ring.length, 1);
  assert.is(ring.shift(), undefined);
  assert.is(ring.length, 0);
});

test('it is empty after it was cleared, and can be used again', () => {
  const ring = new Ring<number>();
  for (let i = 0; i < 100; i++) ring.push(i);
  ring.clear();
  assert.is(ring.length, 0);
  ring.push(7);
  assert.is(ring.shift(), 7);
});

/** The numbers of values that are pushed, or shifted if negative. */
const move = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: -40, max: 50 }) },
  fc.constantFrom(-6_000, 6_000),
);
const moves = fc.array(move, { maxLength: 60 });

test('it behaves as an array does, however it grows and runs empty', () => {
  fc.assert(
    fc.property(moves, (moves) => {
      const ring = new Ring<number>();
      const model: number[] = [];
      let next = 0;
      for (const move of moves) {
        for (let i = 0; i < move; i++) {
          ring.push(next);
          model.push(next++);
        }
        for (let i = move; i < 0 && model.length > 0; i++) {
          assert.is(ring.peek(), model[0]);
          assert.is(ring.shift(), model.shift());
        }
        assert.is(ring.length, model.length);
      }
      while (model.length > 0) assert.is(ring.shift(), model.shift());
    }),
    { numRuns: runsOf(500) },
  );
});

test.run();
