import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 10, interval: 1000 });

timed('deadlines hold while a pause is in flight to a store that does not reply', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<string>();
  line.ask(recorded, [1], 400, 'in time');
  clock.tick(1);
  const [{ request, reply }] = ledger.reserves;
  reply(null, replyTo(request, [300]));
  line.dispatcher.changes.pause(
    () => undefined,
    () => undefined,
  );
  clock.tick(398);
  assert.is(recorded.endings.length, 0);
  clock.tick(10);
  assert.equal(recorded.all('denied'), ['in time']);
  assert.is(recorded.endings[0].at, 400);
  assert.is(ledger.refunds.length, 1);
});

timed('deadlines of reserved requests hold while a pause is in flight', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<string>();
  line.ask(recorded, [1], 400, 'in flight');
  clock.tick(1);
  line.dispatcher.changes.pause(
    () => undefined,
    () => undefined,
  );
  const [{ request, reply }] = ledger.reserves;
  reply(null, replyTo(request, [0]));
  clock.tick(410);
  assert.equal(recorded.all('denied'), ['in flight']);
  assert.is(recorded.endings[0].at, 400);
});

test.run();
