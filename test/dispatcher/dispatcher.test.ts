import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/errors.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

function open() {
  const ledger = scriptedLedger(limit);
  return { ledger, line: openLine(limit, ledger), recorded: recorder<number>() };
}

/** The runs of a call, as rows: count, cost, longest wait. */
const runsOf = (ledger: ReturnType<typeof scriptedLedger>, call: number) =>
  ledger.reserves[call].request.runs.map(({ count, cost, maxWait }) => [count, cost[0], maxWait]);

timed('the requests of one turn go in one call, and equal ones in one run', (clock) => {
  const { ledger, line, recorded } = open();
  for (let i = 0; i < 20; i++) line.ask(recorded, [1], Infinity, i);
  assert.is(ledger.reserves.length, 0);
  clock.tick(0);
  assert.is(ledger.reserves.length, 1);
  assert.equal(runsOf(ledger, 0), [[20, 1, Infinity]]);
});

timed('requests of different costs or timeouts make separate runs, in order', (clock) => {
  const { ledger, line, recorded } = open();
  const asked = [
    [1, Infinity],
    [1, Infinity],
    [2, Infinity],
    [1, 500],
    [1, 500],
    [1, 0],
    [1, Infinity],
  ];
  for (const [i, [cost, timeout]] of asked.entries()) line.ask(recorded, [cost], timeout, i);
  clock.tick(0);
  assert.equal(runsOf(ledger, 0), [
    [2, 1, Infinity],
    [1, 2, Infinity],
    [2, 1, 500],
    [1, 1, 0],
    [1, 1, Infinity],
  ]);
});

timed('requests made during a call go in the next call, with the rest of their timeouts', (clock) => {
  const { ledger, line, recorded } = open();
  line.ask(recorded, [1], Infinity, 0);
  clock.tick(5);
  for (let i = 1; i <= 3; i++) line.ask(recorded, [1], 100, i);
  clock.tick(5);
  line.ask(recorded, [1], Infinity, 4);
  assert.is(ledger.reserves.length, 1);
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [0]));
  assert.equal(runsOf(ledger, 1), [
    [3, 1, 95],
    [1, 1, Infinity],
  ]);
  assert.equal(recorded.all('granted'), [0]);
});

timed('counted requests are one run of any length, up to the room of a call', (clock) => {
  const { ledger, line, recorded } = open();
  for (let i = 0; i < 1_000; i++) line.count(recorded as never, [1]);
  clock.tick(0);
  const [[count]] = runsOf(ledger, 0);
  assert.is(runsOf(ledger, 0).length, 1);
  assert.ok(count > 1 && count <= 1000);
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [0]));
  assert.is(recorded.all('granted').length, count);
});

timed('the counted requests of several waiters share the room of a call', (clock) => {
  const { ledger, line } = open();
  for (const waiter of [recorder<undefined>(), recorder<undefined>()])
    for (let i = 0; i < 50; i++) line.count(waiter, [1]);
  clock.tick(0);
  assert.equal(runsOf(ledger, 0), [[Math.ceil(1000 / 16), 1, Infinity]]);
});

timed('an error of the store fails the requests of its call only', (clock) => {
  const { ledger, line, recorded } = open();
  line.ask(recorded, [1], Infinity, 0);
  line.ask(recorded, [2], 50, 1);
  clock.tick(1);
  line.ask(recorded, [1], Infinity, 2);
  const error = new StoreError('line', new Error('WRONGTYPE'));
  ledger.reserves[0].reply(error);
  assert.equal(recorded.all('failed'), [0, 1]);
  assert.ok(recorded.endings.every((ending) => ending.what === 'failed' && ending.error === error));
  const { request, reply } = ledger.reserves[1];
  reply(null, replyTo(request, [0]));
  assert.equal(recorded.all('granted'), [2]);
  clock.tick(0);
  assert.is(clock.countTimers(), 0);
});

timed('a delay counts from the receipt of the reply', (clock) => {
  const { ledger, line, recorded } = open();
  line.ask(recorded, [1], Infinity, 0);
  clock.tick(30);
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [100]));
  clock.tick(99);
  assert.is(recorded.endings.length, 0);
  clock.tick(1);
  assert.is(recorded.endings[0].at, 130);
});

timed('a callback that makes requests finds the queue consistent', (clock) => {
  const { ledger, line, recorded } = open();
  const again = {
    ...recorded,
    granted: (...answer: Parameters<typeof recorded.granted>) => {
      recorded.granted(...answer);
      if (answer[1] < 5) line.ask(again, [1], Infinity, answer[1] + 1);
    },
  };
  line.ask(again, [1], Infinity, 0);
  clock.tick(0);
  for (let i = 0; i <= 5; i++) {
    const { request, reply } = ledger.reserves[i];
    reply(null, replyTo(request, [0]));
  }
  assert.equal(recorded.all('granted'), [0, 1, 2, 3, 4, 5]);
  assert.is(ledger.reserves.length, 6);
});

test.run();
