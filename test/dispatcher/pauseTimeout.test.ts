import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { diary, openLine } from '../support/lines.ts';
import { booked, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 10, interval: 1000 });

timed('a timeout is kept while a pause is on its way to a store that does not answer', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const heard = diary<string>();
  line.ask(heard, [1], 400, 'in time');
  clock.tick(1);
  const [{ request, reply }] = ledger.reserves;
  reply(null, booked(request, [300]));
  line.pause(
    () => undefined,
    () => undefined,
  );
  clock.tick(398);
  assert.is(heard.endings.length, 0);
  clock.tick(10);
  assert.equal(heard.all('late'), ['in time']);
  assert.is(heard.endings[0].at, 400);
  assert.is(ledger.refunds.length, 1);
});

timed('a timeout is kept by what is booked while a pause is on its way', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const heard = diary<string>();
  line.ask(heard, [1], 400, 'in flight');
  clock.tick(1);
  line.pause(
    () => undefined,
    () => undefined,
  );
  const [{ request, reply }] = ledger.reserves;
  reply(null, booked(request, [0]));
  clock.tick(410);
  assert.equal(heard.all('late'), ['in flight']);
  assert.is(heard.endings[0].at, 400);
});

test.run();
