import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A queue of `count` requests with reservations for one moment. */
function open(clock: { tick(ms: number): unknown }, count: number) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  const requests = Array.from({ length: count }, (_, i) => line.ask(recorded, [1], Infinity, i));
  clock.tick(0);
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [500]));
  return { ledger, line, requests };
}

/** The number of refunded requests in each call. */
const counts = ({ refunds }: ReturnType<typeof scriptedLedger>) =>
  refunds.map((call) => call.refunds.reduce((sum, { count }) => sum + count, 0));

timed('the refunds of one turn go in one call', (clock) => {
  const { ledger, line, requests } = open(clock, 10);
  for (const request of requests.slice(0, 7)) line.cancel(request);
  assert.equal(counts(ledger), []);
  clock.tick(0);
  assert.equal(counts(ledger), [7]);
  assert.is(ledger.refunds[0].refunds.length, 1);
});

timed('refunds are sent one call at a time, in sequence', (clock) => {
  const { ledger, line, requests } = open(clock, 10);
  for (const request of requests.slice(0, 4)) {
    line.cancel(request);
    clock.tick(1);
  }
  assert.equal(counts(ledger), [1]);
  ledger.refunds[0].reply(null);
  assert.equal(counts(ledger), [1, 3]);
  line.cancel(requests[4]);
  ledger.refunds[1].reply(null);
  clock.tick(0);
  assert.equal(counts(ledger), [1, 3, 1]);
  assert.equal(
    ledger.refunds.map(({ sequence }) => sequence),
    [1, 2, 3],
  );
});

timed('a refund that fails is lost, and later ones are sent', (clock) => {
  const { ledger, line, requests } = open(clock, 3);
  line.cancel(requests[0]);
  clock.tick(0);
  line.cancel(requests[1]);
  ledger.refunds[0].reply(new Error('gone'));
  clock.tick(0);
  assert.equal(
    ledger.refunds.map(({ sequence }) => sequence),
    [1, 2],
  );
});

timed('the callback of a refund runs once the store has replied', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const settled: string[] = [];
  const grant = { cost: [1], moment: Date.now(), epoch: 1, source: 'memory' } as const;
  line.dispatcher.refund(grant, () => settled.push('first'));
  clock.tick(0);
  line.dispatcher.refund({ ...grant, cost: [2] }, () => settled.push('second'));
  clock.tick(0);
  assert.equal(settled, []);
  ledger.refunds[0].reply(null);
  assert.equal(settled, ['first']);
  ledger.refunds[1].reply(new Error('gone'));
  assert.equal(settled, ['first', 'second']);
});

timed('no call exceeds the most refunds, and each reply runs its own callbacks', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const settled: (Error | null)[] = [];
  for (let i = 0; i < 3000; i++)
    line.dispatcher.refund({ cost: [1 + (i % 2)], moment: i, epoch: 1, source: 'redis' }, (error) =>
      settled.push(error),
    );
  clock.tick(0);
  const lost = new Error('gone');
  const reported = [null, lost, null].map((error, call) => {
    ledger.refunds[call].reply(error);
    clock.tick(0);
    return settled.splice(0);
  });
  assert.equal(counts(ledger), [1024, 1024, 952]);
  assert.equal(
    reported.map((errors) => [errors.length, new Set(errors).size, errors[0]]),
    [
      [1024, 1, null],
      [1024, 1, lost],
      [952, 1, null],
    ],
  );
});

timed('equal refunds of different batches are merged, and wait for one call only', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  let settled = 0;
  const giveBack = (i: number) =>
    line.dispatcher.refund(
      { cost: [1 + (i % 2)], moment: i % 40, epoch: 1, source: 'redis' },
      () => settled++,
    );
  giveBack(0);
  clock.tick(0);
  for (let i = 0; i < 10_000; i++) giveBack(i);
  for (const { reply } of ledger.refunds.slice()) reply(null);
  clock.tick(0);
  assert.equal(counts(ledger), [1, 10_000]);
  assert.is(ledger.refunds[1].refunds.length, 40);
  assert.is(settled, 1);
  ledger.refunds[1].reply(null);
  assert.is(settled, 10_001);
});

for (const [what, other] of [
  ['moment', { moment: 8 }],
  ['epoch', { epoch: 2 }],
  ['source', { source: 'fallback' }],
  ['cost', { cost: [2] }],
] as const)
  timed(`refunds of another ${what} are not merged`, (clock) => {
    const ledger = scriptedLedger(limit);
    const line = openLine(limit, ledger);
    const grant = { cost: [1], moment: 7, epoch: 1, source: 'redis' } as const;
    for (const one of [grant, { ...grant, ...other }, grant]) line.dispatcher.refund(one);
    clock.tick(0);
    assert.equal(ledger.refunds[0].refunds, [
      { ...grant, count: 2 },
      { ...grant, ...other, count: 1 },
    ]);
  });

test.run();
