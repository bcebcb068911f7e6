import { interval, type Observable, range, take } from 'rxjs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  memoryStore,
  RateLimiter,
  type Store,
  slidingWindow,
  throttleDistributed,
} from '../../../src/index.ts';
import type { ControlledLedger } from '../../../src/stores/store.ts';
import { timed } from '../../support/fakeTime.ts';
import { ledgerWith } from '../../support/ledgerWith.ts';

/** A store whose replies take a time. */
function slowStore(roundTrip: number): Store {
  const inner = memoryStore();
  return {
    open(config) {
      const ledger = inner.open(config);
      return ledgerWith<ControlledLedger, Partial<ControlledLedger>>(ledger, {
        sync: false,
        reserve: (request, reply) =>
          ledger.reserve(request, (...answer) => void setTimeout(() => reply(...answer), roundTrip)),
        refund: (refunds, sequence, reply) =>
          ledger.refund(refunds, sequence, (...answer) => void setTimeout(() => reply(...answer), roundTrip)),
      });
    },
  };
}

/** The values that a stream emits of those of a source, all of whose permits are free, with a timeout of 20 ms. */
async function emitted(
  roundTrip: number,
  source: Observable<number>,
  clock: { tickAsync(ms: number): unknown },
) {
  const limit = slidingWindow({ permits: 100, interval: 1_000 });
  const limiter = new RateLimiter({ name: 'api', limit, store: slowStore(roundTrip) });
  const values: number[] = [];
  source
    .pipe(throttleDistributed(limiter, { timeout: 20, onTimeout: 'drop' }))
    .subscribe((value) => values.push(value));
  await clock.tickAsync(5_000);
  return values;
}

timed(
  'values that come during a call are decided by the next one, and may be dropped though permits are free',
  async (clock) => {
    assert.equal(await emitted(40, interval(1).pipe(take(5)), clock), [0, 1, 2, 3, 4]);
    assert.equal(await emitted(80, interval(1).pipe(take(5)), clock), [0]);
  },
);

timed('values of one turn are decided by one call', async (clock) => {
  assert.equal(await emitted(80, range(5), clock), [0, 1, 2, 3, 4]);
});

test.run();
