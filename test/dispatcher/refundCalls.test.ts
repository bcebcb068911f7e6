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

timed('refunds among contenders cause no calls of their own', (clock) => {
  const { ledger, refund } = contending(clock, 5000);
  const calls = ledger.reserves.length;
  for (let i = 0; i < 20; i++) {
    refund();
    clock.tick(10);
  }
  assert.is(ledger.reserves.length, calls);
});

test.run();
