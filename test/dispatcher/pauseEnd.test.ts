import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

for (const [end, refunds] of [
  [300, 0],
  [301, 1],
])
  timed(`a pause until ${end} ms refunds ${refunds} of one reservation at 300 ms`, (clock) => {
    const ledger = scriptedLedger(limit);
    const line = openLine(limit, ledger);
    const recorded = recorder<number>();
    line.ask(recorded, [1], Infinity, 0);
    clock.tick(0);
    const [{ request, reply }] = ledger.reserves;
    reply(null, replyTo(request, 300));
    clock.tick(100);
    line.dispatcher.changes.pause(
      (done) => done(null, end - 100),
      () => {},
    );
    clock.tick(0);
    assert.is(ledger.refunds.length, refunds);
    clock.tick(1000);
    assert.equal(
      recorded.endings.map(({ what, at }) => [what, at]),
      refunds === 0 ? [['granted', 300]] : [],
    );
  });

for (const [end, calls] of [
  [300, 1],
  [301, 2],
])
  timed(
    `after a pause until ${end} ms, made during a call, call ${calls} has a moment at 300 ms`,
    (clock) => {
      const ledger = scriptedLedger(limit);
      const line = openLine(limit, ledger);
      line.ask(recorder<number>(), [1], Infinity, 0);
      clock.tick(100);
      line.dispatcher.changes.pause(
        (done) => done(null, end - 100),
        () => {},
      );
      const [{ request, reply }] = ledger.reserves;
      reply(null, replyTo(request, 200));
      clock.tick(0);
      assert.is(ledger.refunds.length, calls - 1);
      assert.is(line.stats.reserved, 2 - calls);
    },
  );

test.run();
