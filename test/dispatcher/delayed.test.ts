import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

timed(
  'requests that wait for the same late reply are given the same time, though one has waited for another late one',
  (clock) => {
    const ledger = scriptedLedger(limit);
    const line = openLine(limit, ledger);
    const recorded = recorder<number>();
    const reply = (call: number, delays: number[]) =>
      ledger.reserves[call].reply(null, replyTo(ledger.reserves[call].request, delays));
    line.ask(recorded, [1], Infinity, 0);
    line.ask(recorded, [1], 4310, 1);
    clock.tick(0);
    reply(0, [2100, 4300]);
    // The reply to the heartbeat is late: the first request is due.
    clock.tick(2150);
    reply(1, []);
    assert.equal(recorded.all('granted'), [0]);
    clock.tick(50);
    line.ask(recorded, [1], 2110, 2);
    clock.tick(0);
    reply(2, [2105]);
    // So is the reply to the next heartbeat.
    clock.tick(2150);
    assert.equal(recorded.all('denied'), []);
    reply(3, []);
    assert.equal(recorded.all('granted'), [0, 1, 2]);
  },
);

test.run();
