import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { diary, openLine } from '../support/lines.ts';
import { booked, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A line with so many requests booked for one moment. */
function open(clock: { tick(ms: number): unknown }, count: number) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const heard = diary<number>();
  const entries = Array.from({ length: count }, (_, i) => line.ask(heard, [1], Infinity, i));
  clock.tick(0);
  const { request, reply } = ledger.reserves[0];
  reply(null, booked(request, [500]));
  return { ledger, line, entries };
}

/** What each call gave back: how many requests. */
const counts = ({ refunds }: ReturnType<typeof scriptedLedger>) =>
  refunds.map((call) => call.refunds.reduce((sum, { count }) => sum + count, 0));

timed('what is given back in one turn goes in one call', (clock) => {
  const { ledger, line, entries } = open(clock, 10);
  for (const entry of entries.slice(0, 7)) line.cancel(entry);
  assert.equal(counts(ledger), []);
  clock.tick(0);
  assert.equal(counts(ledger), [7]);
  assert.is(ledger.refunds[0].refunds.length, 1);
});

timed('refunds go one call at a time, in sequence', (clock) => {
  const { ledger, line, entries } = open(clock, 10);
  for (const entry of entries.slice(0, 4)) {
    line.cancel(entry);
    clock.tick(1);
  }
  assert.equal(counts(ledger), [1]);
  ledger.refunds[0].reply(null);
  assert.equal(counts(ledger), [1, 3]);
  line.cancel(entries[4]);
  ledger.refunds[1].reply(null);
  clock.tick(0);
  assert.equal(counts(ledger), [1, 3, 1]);
  assert.equal(
    ledger.refunds.map(({ sequence }) => sequence),
    [1, 2, 3],
  );
});

timed('a refund that fails is lost, and those after it go on', (clock) => {
  const { ledger, line, entries } = open(clock, 3);
  line.cancel(entries[0]);
  clock.tick(0);
  line.cancel(entries[1]);
  ledger.refunds[0].reply(new Error('gone'));
  clock.tick(0);
  assert.equal(
    ledger.refunds.map(({ sequence }) => sequence),
    [1, 2],
  );
});

timed('whoever gives a permit back hears when the store has answered', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const settled: string[] = [];
  const grant = { cost: [1], moment: Date.now(), epoch: 1, source: 'memory' } as const;
  line.giveBack(grant, () => settled.push('first'));
  clock.tick(0);
  line.giveBack({ ...grant, cost: [2] }, () => settled.push('second'));
  clock.tick(0);
  assert.equal(settled, []);
  ledger.refunds[0].reply(null);
  assert.equal(settled, ['first']);
  ledger.refunds[1].reply(new Error('gone'));
  assert.equal(settled, ['first', 'second']);
});

timed('however much is given back, no call carries more than it can', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  let settled = 0;
  for (let i = 0; i < 2000; i++)
    line.giveBack({ cost: [1 + (i % 2)], moment: i, epoch: 1, source: 'redis' }, () => settled++);
  clock.tick(0);
  for (let call = 0; settled < 2000 && call < 10; call++) {
    assert.is(settled, 0);
    ledger.refunds[call].reply(null);
    clock.tick(0);
  }
  assert.is(settled, 2000);
  assert.equal(counts(ledger), [512, 512, 512, 464]);
});

test.run();
