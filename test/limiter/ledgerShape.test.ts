import { setFlagsFromString } from 'node:v8';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, slidingWindow } from '../../src/limits/limit.ts';
import { createLedger, expand } from '../../src/stores/memory/createLedger.ts';

setFlagsFromString('--allow-natives-syntax');
const haveSameShape = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (
  a: object,
  b: object,
) => boolean;

test('all ledgers with waiting requests have one shape, so that V8 reads their fields fast', () => {
  const limits = [
    fixedWindow({ permits: 1, interval: 1_000 }),
    slidingWindow({ permits: 1, interval: 1_000 }),
  ];
  // So many that V8 has counted the calls of the function.
  const ledgers = Array.from({ length: 30 }, (_, i) => {
    const [names, of] = i % 3 === 0 ? [['a', 'b'], limits] : [[''], [limits[i % 2]]];
    return expand(createLedger(names, of, 1.5e15, 1.5e12, 0));
  });
  for (const ledger of ledgers) assert.ok(haveSameShape(ledger, ledgers[0]));
});

test.run();
