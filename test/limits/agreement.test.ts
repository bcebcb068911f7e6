import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { noControl } from '../../src/stores/memory/control.ts';
import { openLedger } from '../../src/stores/memory/openLedger.ts';
import { reserve } from '../../src/stores/memory/reserve.ts';

test('a limit that grants nothing at the moment it offers ends the call with an error', () => {
  const limits = [slidingWindow({ permits: 2, interval: 1000, resolution: 1 })];
  const { ledger, instant } = openLedger(undefined, [''], limits, 1_700_000_000_000_000, noControl());
  ledger.limits[0].permits = Number.NaN;
  const runs = [{ count: 1, cost: [1], maxWait: 0 }];
  assert.throws(
    () => reserve(ledger, instant, 'one', { runs, horizon: 20, held: 0, epoch: 0 }),
    /the limits do not agree/,
  );
});

test.run();
