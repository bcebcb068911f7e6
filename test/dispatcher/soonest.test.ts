import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { diary, openLedger, openLine } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

timed(
  'an answer that was long on its way back does not make the line seem longer than it may be',
  (clock) => {
    const limit = slidingWindow({ permits: 2, interval: 1000, resolution: 1 });
    const wire = slowLedger(openLedger(memoryStore(), limit, 'me'), { there: 0, back: 300 });
    const line = openLine(limit, wire);
    const heard = diary<number>();
    const start = performance.now();
    line.ask(heard, [2], Infinity, 0);
    line.ask(heard, [1], Infinity, 1);
    // The second call, sent at 300, books the second request for 1000, as the store counts: as it seems here, for 1300.
    clock.tick(650);
    wire.trip = { there: 0, back: 0 };
    // The window has a second permit at that moment, which is within the time.
    line.ask(heard, [1], 550, 2);
    clock.tick(3000);
    assert.equal(heard.all('late'), []);
    assert.equal(heard.all('granted'), [0, 1, 2]);
    // A call takes a millisecond each way at least.
    for (const { at } of heard.endings.slice(1)) assert.ok(at - start >= 1000 && at - start <= 1004);
  },
);

test.run();
