// What the store in this process tells of the time until permits are free.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Ledger } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger } from '../support/lines.ts';

const limit = slidingWindow({ permits: 2, interval: 1000, resolution: 1 });

const reserve = (ledger: Ledger, count: number) =>
  ledger.reserve(
    { runs: [{ count, cost: [1], maxWait: Infinity }], horizon: 10_000, held: 0, epoch: 0 },
    () => undefined,
  );

timed(
  'the time until permits are free follows all reservations, and is not known while clients are paced',
  (clock) => {
    const store = memoryStore();
    const [one, other] = ['one', 'other'].map((client) => openLedger(store, limit, client));
    clock.tick(100);
    assert.equal(one.untilFree!([2]), [0]);
    reserve(one, 1);
    assert.equal([one.untilFree!([1]), one.untilFree!([2])], [[0], [1000]]);
    reserve(one, 2);
    clock.tick(50);
    // The last reservation is at 1100.
    assert.equal([one.untilFree!([0]), one.untilFree!([1]), one.untilFree!([2])], [[0], [950], [1950]]);
    reserve(other, 1);
    assert.is(one.untilFree!([1]), undefined);
    clock.tick(10_000);
    assert.equal(one.untilFree!([2]), [0]);
  },
);

test.run();
