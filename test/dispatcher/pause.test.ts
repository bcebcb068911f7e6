import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/errors.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import type { Reply } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

function open(requests: number) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  for (let i = 0; i < requests; i++) line.ask(recorded, [1], Infinity, i);
  /** Replies to a call with a delay for each of its requests. */
  const answer = (call: number, ...delays: number[]) => {
    const { request, reply } = ledger.reserves[call];
    reply(
      null,
      replyTo(request, [], { segments: delays.map((delay) => ({ count: 1, delay, retryAfter: 0 })) }),
    );
  };
  /** Starts a pause. Returns the function that delivers the store's reply. */
  const pause = () => {
    let deliver: Reply<number> = () => assert.unreachable();
    line.dispatcher.changes.pause(
      (done) => {
        deliver = done;
      },
      () => {},
    );
    return deliver;
  };
  /** The refunded moments, relative to the start of the test. */
  const refunded = () =>
    ledger.refunds.flatMap(({ refunds }) => refunds.map(({ moment }) => moment - 1_700_000_000_000));
  const rows = () => recorded.endings.map(({ data, at }) => [data, at]);
  return { ledger, line, recorded, answer, pause, refunded, rows };
}

timed('nothing is granted while a pause is in flight', (clock) => {
  const { answer, pause, rows } = open(2);
  clock.tick(0);
  answer(0, 50, 60);
  const deliver = pause();
  clock.tick(100);
  assert.equal(rows(), []);
  // Another pause ended before that: none is in force any longer.
  deliver(null, 0);
  assert.equal(rows(), [
    [0, 100],
    [1, 100],
  ]);
});

timed('grants made just before a pause are refunded, in whatever order the replies arrive', (clock) => {
  for (const pauseFirst of [false, true]) {
    const { ledger, answer, pause, refunded, rows } = open(2);
    const start = performance.now();
    clock.tick(0);
    const deliver = pause();
    clock.tick(10);
    if (pauseFirst) deliver(null, 500);
    answer(0, 0, 0);
    if (!pauseFirst) deliver(null, 500);
    clock.tick(0);
    assert.equal(rows(), [], `pauseFirst: ${pauseFirst}`);
    assert.equal(refunded(), [start + 10]);
    assert.is(ledger.reserves.length, 2);
    answer(1, 500, 510);
    clock.tick(600);
    assert.equal(rows(), [
      [0, start + 510],
      [1, start + 520],
    ]);
  }
});

timed('reservations before the end of a pause are requested again, with all behind them', (clock) => {
  const { ledger, answer, pause, refunded, rows } = open(4);
  clock.tick(0);
  answer(0, 50, 250, 450, 460);
  clock.tick(100);
  pause()(null, 200);
  clock.tick(0);
  assert.equal(refunded().sort(), [250, 450, 460]);
  assert.equal(
    ledger.reserves[1].request.runs.map(({ count, cost }) => [count, cost[0]]),
    [[3, 1]],
  );
  assert.is(ledger.reserves[1].request.held, 0);
  answer(1, 200, 200, 400);
  clock.tick(1000);
  assert.equal(rows(), [
    [0, 50],
    [1, 300],
    [2, 300],
    [3, 500],
  ]);
});

timed(
  'a request that may not wait and was granted just before a pause is denied once those in front of it wait',
  (clock) => {
    const { ledger, line, recorded, pause } = open(0);
    line.ask(recorded, [40], Infinity, 1);
    line.ask(recorded, [1], 0, 2);
    clock.tick(0);
    const deliver = pause();
    const [first] = ledger.reserves;
    first.reply(null, replyTo(first.request, [0, 0], { contenders: 2 }));
    deliver(null, 500);
    clock.tick(0);
    // The fair share has no room for the other one.
    const [, second] = ledger.reserves;
    assert.equal(
      second.request.runs.map(({ cost }) => cost),
      [[40]],
    );
    second.reply(null, replyTo(second.request, [500], { contenders: 2 }));
    assert.equal(recorded.all('denied'), [2]);
  },
);

timed('a pause that fails no longer delays grants', (clock) => {
  const { answer, pause, refunded, rows } = open(1);
  clock.tick(0);
  answer(0, 50);
  const deliver = pause();
  clock.tick(100);
  deliver(new StoreError('line', new Error('WRONGTYPE')));
  assert.equal(rows(), [[0, 100]]);
  assert.equal(refunded(), []);
});

timed('of several pauses in flight, the last reply resumes grants', (clock) => {
  const { answer, pause, rows } = open(1);
  clock.tick(0);
  answer(0, 50);
  const [first, second] = [pause(), pause()];
  clock.tick(100);
  first(null, 0);
  clock.tick(0);
  assert.equal(rows(), []);
  second(null, 0);
  assert.equal(rows(), [[0, 100]]);
});

timed('a pause from within a grant delays the other grants of the turn', (clock) => {
  const { ledger, line, answer, pause } = open(0);
  const granted: number[] = [];
  const deliver: Reply<number>[] = [];
  const waiter = {
    granted: (_: unknown, data: number) => {
      granted.push(data);
      if (data === 1) deliver.push(pause());
    },
    denied: () => {},
    failed: () => {},
  };
  for (let i = 0; i < 4; i++) line.ask(waiter, [1], Infinity, i);
  clock.tick(0);
  answer(0, 0, 0, 0, 0);
  clock.tick(5);
  assert.equal(granted, [0, 1]);
  deliver[0](null, 100);
  clock.tick(0);
  assert.is(ledger.refunds[0].refunds[0].count, 2);
  answer(1, 100, 100);
  clock.tick(100);
  assert.equal(granted, [0, 1, 2, 3]);
});

test.run();
