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
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  const answer = (delays: number[] = []) => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    reply(null, replyTo(request, delays));
  };
  return { ledger, line, recorded, answer };
}

timed('a queue that waits for reservations sends a call every 1.5 s, and sets one timer', (clock) => {
  const { ledger, line, recorded, answer } = open();
  for (let i = 0; i < 50; i++) line.ask(recorded, [1], Infinity, i);
  clock.tick(0);
  answer([60_000]);
  for (let beats = 1; beats <= 5; beats++) {
    clock.tick(1499);
    assert.is(ledger.reserves.length, beats);
    assert.is(clock.countTimers(), 1);
    clock.tick(1);
    assert.is(ledger.reserves.length, beats + 1);
    const { runs, held, epoch, earlier } = ledger.reserves[beats].request;
    // It asks for moments that are earlier by twenty milliseconds at least.
    const run = { count: 50, cost: [1], maxWait: 60_000 - beats * 1500 - 20 };
    assert.equal({ runs, held, epoch, earlier }, { runs: [run], held: 50, epoch: 1, earlier: true });
    answer();
  }
});

timed('new requests do not make the heartbeat more frequent', (clock) => {
  const { ledger, line, recorded, answer } = open();
  for (let i = 0; i < 50; i++) line.ask(recorded, [1], Infinity, i);
  clock.tick(0);
  answer([60_000]);
  for (let i = 0; i < 100; i++) {
    line.ask(recorded, [1], Infinity, 50 + i);
    clock.tick(100);
    if (i % 20 === 19) answer([60_000]);
  }
  // Each call contains the new requests, if the client may request more.
  assert.is(ledger.reserves.length, 7);
});

timed('an empty queue sends no call and sets no timer', (clock) => {
  const { ledger, line, recorded, answer } = open();
  for (const i of [1, 2]) line.ask(recorded, [1], Infinity, i);
  clock.tick(0);
  answer([100]);
  clock.tick(100);
  assert.equal(recorded.all('granted'), [1, 2]);
  assert.is(clock.countTimers(), 0);
  const last = line.ask(recorded, [1], Infinity, 3);
  clock.tick(0);
  answer([60_000]);
  line.cancel(last);
  clock.tick(0);
  assert.is(clock.countTimers(), 0);
  clock.tick(10_000);
  assert.is(ledger.reserves.length, 2);
});

timed('no call is sent while another one is in flight, however long it takes', (clock) => {
  const { ledger, line, recorded, answer } = open();
  line.ask(recorded, [1], Infinity, 0);
  clock.tick(30_000);
  assert.is(ledger.reserves.length, 1);
  answer([5000]);
  clock.tick(0);
  // One heartbeat is overdue by then.
  assert.is(ledger.reserves.length, 2);
  answer();
  clock.tick(1499);
  assert.is(ledger.reserves.length, 2);
});

timed('reservations survive a heartbeat that fails, and it is sent again', (clock) => {
  const { ledger, line, recorded, answer } = open();
  for (let i = 0; i < 20; i++) line.ask(recorded, [1], Infinity, i);
  clock.tick(0);
  answer([5000]);
  clock.tick(2000);
  ledger.reserves[1].reply(new StoreError('line', new Error('WRONGTYPE')));
  clock.tick(0);
  assert.equal(recorded.endings, []);
  clock.tick(2000);
  assert.is(ledger.reserves.length, 3);
  answer();
  clock.tick(1000);
  assert.is(recorded.all('granted').length, 20);
});

test.run();
