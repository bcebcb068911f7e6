import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Reservations } from '../../src/limiter/reservations.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('what was handed out is not kept, though something is always booked', async () => {
  const reservations = new Reservations();
  const handedOut: WeakRef<object>[] = [];
  let moment = 0;
  const book = () => {
    const grant = { cost: [1], moment: ++moment, epoch: 1, source: 'memory' as const };
    handedOut.push(new WeakRef(grant));
    reservations.add({ grant, count: 1, due: moment, meant: moment, soonest: moment, load: 1 }, 1);
  };
  for (let i = 0; i < 20; i++) book();
  for (let i = 0; i < 10_000; i++) {
    book();
    reservations.shift();
  }
  // A reference lives as long as the turn that made it.
  await new Promise(setImmediate);
  collectGarbage();
  const kept = handedOut.filter((reference) => reference.deref() !== undefined).length;
  assert.is(reservations.count, 20);
  assert.ok(kept < 200, `${kept} of ${handedOut.length} are kept, and 20 are booked`);
});

test.run();
