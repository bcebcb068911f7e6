import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Block } from '../../src/dispatcher/block.ts';
import { Reservation } from '../../src/dispatcher/reservation.ts';
import { ReservedMoments } from '../../src/dispatcher/reservedMoments.ts';
import type { Cost } from '../../src/limits/cost.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The number of objects that the garbage collector has not removed. */
async function countKept(references: readonly WeakRef<object>[]): Promise<number> {
  // A WeakRef keeps its target until the end of the turn.
  await new Promise(setImmediate);
  collectGarbage();
  return new Set(references.map((reference) => reference.deref()).filter((one) => one !== undefined)).size;
}

function reserve(reservations: ReservedMoments, moment: number, cost: Cost): { grant: object; block: Block } {
  const grant = { cost, moment, epoch: 1, source: 'memory' as const };
  return { grant, block: reservations.add(new Reservation(grant, 1, moment, moment, moment, 1), 1) };
}

for (const [title, costs] of [
  ['all of one cost', [[1]]],
  ['of several costs', [[1], [2], [3]]],
] as const)
  test(`past reservations are not kept while there are always new ones: ${title}`, async () => {
    const reservations = new ReservedMoments();
    const handedOut: WeakRef<object>[] = [];
    let moment = 0;
    const bookNext = () => {
      const { grant, block } = reserve(reservations, ++moment, costs[moment % costs.length]);
      handedOut.push(new WeakRef(grant), new WeakRef(block));
    };
    for (let i = 0; i < 20; i++) bookNext();
    // A reference to a removed reservation keeps none of the others alive.
    const { first } = reservations;
    for (let i = 0; i < 10_000; i++) {
      bookNext();
      reservations.shift();
    }
    assert.is(first!.count, 0);
    assert.is(reservations.count, 20);
    const kept = await countKept(handedOut);
    assert.ok(kept < 200, `${kept} of ${handedOut.length} are kept, and 20 are reserved`);
  });

test('moments of one grant for several requests are one reservation', () => {
  const reservations = new ReservedMoments();
  const grant = { cost: [1], moment: 1, epoch: 1, source: 'memory' as const };
  const added = new Reservation(grant, 5, 1, 1, 1, 1);
  reservations.add(added, 2);
  reservations.add(added, 3);
  assert.is(reservations.first!.count, 5);
  assert.is(reservations.first!.next, undefined);
});

test('a block without moments is removed', () => {
  const reservations = new ReservedMoments();
  const { block: front } = reserve(reservations, 1, [1]);
  const { block } = reserve(reservations, 2, [2]);
  reservations.shift();
  assert.is(front.count, 0);
  reservations.shift();
  assert.is(block.count, 0);
  assert.is(reservations.lastBlock, undefined);
});

test('adjacent blocks of one cost are merged', () => {
  const reservations = new ReservedMoments();
  const { block: front } = reserve(reservations, 1, [1]);
  const { block: middle } = reserve(reservations, 2, [2]);
  const { block: end } = reserve(reservations, 3, [1]);
  assert.equal(
    reservations.takeLast(middle, 1).map(({ due }) => due),
    [2],
  );
  assert.is(end.root, front);
  assert.equal(
    reservations.takeLast(end.root, 2).map(({ due }) => due),
    [3, 1],
  );
  assert.is(reservations.count, 0);
});

/** The sums, by a walk over the reservations. */
function sumsOf({ first }: ReservedMoments): { held: number; count: number; permits: number[] } {
  const sums = { held: 0, count: 0, permits: [0] };
  for (let one = first; one; one = one.next) {
    sums.held += one.load * one.count;
    sums.count += one.count;
    sums.permits[0] += one.grant.cost[0] * one.count;
  }
  return sums;
}

for (const title of ['read after each change', 'read at the end only'])
  test(`the sums count what was shifted, ${title}`, () => {
    const reservations = new ReservedMoments();
    const addThree = (moment: number, load: number, n = 1) => {
      const grant = { cost: [n], moment, epoch: 1, source: 'memory' as const };
      return new Reservation(grant, 3, moment, moment, moment, load);
    };
    const changes = [
      () => reservations.add(addThree(5, 1), 3),
      () => reservations.add(addThree(6, 2), 3),
      () => reservations.add(addThree(7, 4, 2), 3),
      () => reservations.shift(),
      () => reservations.shift(),
      () => reservations.bringForward(addThree(4, 8)),
      () => reservations.shift(),
      () => reservations.takeLast(reservations.lastBlock!, 1),
      () => reservations.shift(),
      () => reservations.shift(),
      () => reservations.shift(),
      () => reservations.add(addThree(8, 16, 3), 2),
      () => reservations.shift(),
    ];
    const check = () => {
      const { held, count, permits } = reservations;
      assert.equal({ held, count, permits: [...permits] }, sumsOf(reservations));
    };
    for (const change of changes) {
      change();
      if (title === 'read after each change') check();
    }
    check();
    assert.is(reservations.count, 3);
    while (reservations.first) reservations.shift();
    assert.equal(reservations.permits, [0]);
    assert.is(reservations.held, 0);
  });

test.run();
