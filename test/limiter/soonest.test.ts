import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { leakyBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { diary, openLedger, openLine } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

timed(
  'an answer that was long on its way back does not make the line seem longer than it may be',
  (clock) => {
    const limit = leakyBucket({ permits: 1, interval: 1000 });
    const wire = slowLedger(openLedger(memoryStore(), limit, 'me'), { there: 0, back: 300 });
    const line = openLine(limit, wire);
    const heard = diary<string>();
    const start = performance.now();
    line.ask(heard, [1], Infinity, 'at once');
    line.ask(heard, [1], Infinity, 'booked for a second later, as the store counts');
    clock.tick(400);
    wire.trip = { there: 0, back: 0 };
    // Its moment is two seconds from the start: within its time, though not if the answer had left when it came.
    line.ask(heard, [1], 1700, 'the third');
    clock.tick(3000);
    assert.equal(heard.all('late'), []);
    assert.is(heard.all('granted').length, 3);
    assert.ok(heard.endings[2].at - start <= 2100);
  },
);

test.run();
