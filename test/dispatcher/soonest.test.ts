import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

timed('a slow reply does not make the estimated wait too long', (clock) => {
  const limit = slidingWindow({ permits: 2, interval: 1000, resolution: 1 });
  const wire = slowLedger(openLedger(memoryStore(), limit, 'me'), { there: 0, back: 300 });
  const line = openLine(limit, wire);
  const recorded = recorder<number>();
  const start = performance.now();
  line.ask(recorded, [2], Infinity, 0);
  line.ask(recorded, [1], Infinity, 1);
  // The second call, sent at 300, reserves 1000 for the second request by the store's clock, which seems to be 1300 here.
  clock.tick(650);
  wire.trip = { there: 0, back: 0 };
  // The window has a second permit at that moment, which is within the timeout.
  line.ask(recorded, [1], 550, 2);
  clock.tick(3000);
  assert.equal(recorded.all('denied'), []);
  assert.equal(recorded.all('granted'), [0, 1, 2]);
  // A call takes a millisecond each way at least.
  for (const { at } of recorded.endings.slice(1)) assert.ok(at - start >= 1000 && at - start <= 1004);
});

test.run();
