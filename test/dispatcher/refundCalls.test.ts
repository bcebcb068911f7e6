import type { SinonFakeTimers } from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tokenBucket } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

/** A client of a bucket, one of two contenders: one request is granted, and another is reserved `ahead` milliseconds ahead. */
function contending(clock: SinonFakeTimers, ahead: number, permits = 1000) {
  clock.tick(60_000);
  const bucket = tokenBucket({ permits, interval: 1000 });
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

/** The calls and the refunds that a refund causes so many milliseconds after the grant. */
function causedBy(clock: SinonFakeTimers, permits: number, age: number): [calls: number, refunds: number] {
  const { ledger, refund } = contending(clock, 1000, permits);
  const calls = ledger.reserves.length;
  clock.tick(age);
  refund();
  return [ledger.reserves.length - calls, ledger.refunds[0].refunds.length];
}

timed('after a late refund to a slow bucket, a contender asks for an earlier moment', (clock) => {
  // The reservation is refunded, too.
  assert.equal(causedBy(clock, 100, 101), [1, 2]);
});

for (const [what, permits, age] of [
  ['that comes soon', 100, 100],
  ['to a bucket that is not slow', 101, 101],
] as const)
  timed(`a refund ${what} causes no call of a contender`, (clock) => {
    assert.equal(causedBy(clock, permits, age), [0, 1]);
  });

test.run();
