import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/errors.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import type { Reply } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { diary, openLine } from '../support/lines.ts';
import { booked, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

function open(requests: number) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const heard = diary<number>();
  for (let i = 0; i < requests; i++) line.ask(heard, [1], Infinity, i);
  /** Answers a call with a delay for each of its requests. */
  const answer = (call: number, ...delays: number[]) => {
    const { request, reply } = ledger.reserves[call];
    reply(
      null,
      booked(request, [], { segments: delays.map((delay) => ({ count: 1, delay, retryAfter: 0 })) }),
    );
  };
  /** Starts a pause, and answers how it is told that the store has heard of it. */
  const pause = () => {
    let told: Reply<number> = () => assert.unreachable();
    line.pause(
      (done) => {
        told = done;
      },
      () => {},
    );
    return told;
  };
  /** The moments given back, from the start of the test. */
  const givenBack = () =>
    ledger.refunds.flatMap(({ refunds }) => refunds.map(({ moment }) => moment - 1_700_000_000_000));
  const rows = () => heard.endings.map(({ data, at }) => [data, at]);
  return { ledger, line, heard, answer, pause, givenBack, rows };
}

timed('nothing is granted while a pause is on its way to the store', (clock) => {
  const { answer, pause, rows } = open(2);
  clock.tick(0);
  answer(0, 50, 60);
  const told = pause();
  clock.tick(100);
  assert.equal(rows(), []);
  // Another pause ended before that: nothing holds any longer.
  told(null, 0);
  assert.equal(rows(), [
    [0, 100],
    [1, 100],
  ]);
});

timed(
  'what the store granted just before a pause is held and given back, in whatever order it answers',
  (clock) => {
    for (const pauseFirst of [false, true]) {
      const { ledger, answer, pause, givenBack, rows } = open(2);
      const start = performance.now();
      clock.tick(0);
      const told = pause();
      clock.tick(10);
      if (pauseFirst) told(null, 500);
      answer(0, 0, 0);
      if (!pauseFirst) told(null, 500);
      clock.tick(0);
      assert.equal(rows(), [], `pauseFirst: ${pauseFirst}`);
      assert.equal(givenBack(), [start + 10]);
      assert.is(ledger.reserves.length, 2);
      answer(1, 500, 510);
      clock.tick(600);
      assert.equal(rows(), [
        [0, start + 510],
        [1, start + 520],
      ]);
    }
  },
);

timed(
  'what is booked up to the end of a pause is asked for anew, with all that stands behind it',
  (clock) => {
    const { ledger, answer, pause, givenBack, rows } = open(4);
    clock.tick(0);
    answer(0, 50, 250, 450, 460);
    clock.tick(100);
    pause()(null, 200);
    clock.tick(0);
    assert.equal(givenBack().sort(), [250, 450, 460]);
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
  },
);

timed('a pause that the store refuses holds nothing back any longer', (clock) => {
  const { answer, pause, givenBack, rows } = open(1);
  clock.tick(0);
  answer(0, 50);
  const told = pause();
  clock.tick(100);
  told(new StoreError('line', new Error('WRONGTYPE')));
  assert.equal(rows(), [[0, 100]]);
  assert.equal(givenBack(), []);
});

timed('of several pauses on their way, the last that is answered lets go', (clock) => {
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

timed('a pause from within a grant holds the others of the same turn', (clock) => {
  const { ledger, line, answer, pause } = open(0);
  const granted: number[] = [];
  const told: Reply<number>[] = [];
  const waiter = {
    granted: (_: unknown, data: number) => {
      granted.push(data);
      if (data === 1) told.push(pause());
    },
    denied: () => {},
    failed: () => {},
  };
  for (let i = 0; i < 4; i++) line.ask(waiter, [1], Infinity, i);
  clock.tick(0);
  answer(0, 0, 0, 0, 0);
  clock.tick(5);
  assert.equal(granted, [0, 1]);
  told[0](null, 100);
  clock.tick(0);
  assert.is(ledger.refunds[0].refunds[0].count, 2);
  answer(1, 100, 100);
  clock.tick(100);
  assert.equal(granted, [0, 1, 2, 3]);
});

test.run();
