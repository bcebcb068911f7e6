import type { SinonFakeTimers } from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tokenBucket } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

/** A client of a bucket, one of two contenders: one request is granted, and another is reserved `ahead` milliseconds ahead. */
function contending(clock: SinonFakeTimers, ahead: number) {
  clock.tick(60_000);
  const bucket = tokenBucket({ permits: 1000, interval: 1000 });
  const ledger = scriptedLedger(bucket);
  const line = openLine(bucket, ledger);
  const recorded = recorder<number>();
  const answer = (delay = ahead) => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    reply(null, replyTo(request, request.earlier ? [] : delay, { contenders: 2 }));
  };
  for (const delay of [0, ahead]) {
    line.ask(recorded, [1], Infinity, delay);
    clock.tick(0);
    answer(delay);
  }
  const [first] = recorded.endings;
  if (first.what !== 'granted') throw new Error('expected a grant');
  const send = () => {
    line.refund(first.grant);
    clock.tick(0);
  };
  const refund = () => {
    send();
    ledger.refunds[ledger.refunds.length - 1].reply(null);
  };
  return { ledger, answer, refund, send };
}

timed('a refund in flight sets no timer again and again', (clock) => {
  const { send, refund, answer } = contending(clock, 5000);
  // After a move, the next one is due a tenth of a second later.
  refund();
  answer();
  send();
  const till = clock.now + 1000;
  let timers = 0;
  for (; clock.now < till; clock.next()) timers++;
  assert.ok(timers < 20, `${timers} timers`);
});

timed('refunds among contenders cause ten calls a second at most', (clock) => {
  const { ledger, answer, refund } = contending(clock, 5000);
  let calls = ledger.reserves.length;
  const sent: number[] = [];
  for (let i = 0; i < 20; i++) {
    refund();
    if (ledger.reserves.length > calls) answer();
    sent.push(ledger.reserves.length - calls);
    calls = ledger.reserves.length;
    clock.tick(10);
  }
  assert.equal(
    sent,
    Array.from({ length: 20 }, (_, i) => (i % 10 === 0 ? 1 : 0)),
  );
});

for (const [ahead, calls] of [
  [1999, 2],
  [2000, 3],
])
  timed(`after a refund, ${calls - 2} calls for a reservation ${ahead} ms ahead`, (clock) => {
    const { ledger, refund } = contending(clock, ahead);
    refund();
    assert.is(ledger.reserves.length, calls);
  });

timed('after a call for a refund, the timer for the next one is set once, to 100 ms after it', (clock) => {
  const { answer, refund } = contending(clock, 5000);
  refund();
  answer();
  clock.tick(10);
  refund();
  assert.is(clock.countTimers(), 1);
  const now = Date.now();
  assert.is(clock.next() - now, 90);
});

test.run();
