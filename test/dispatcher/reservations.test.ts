import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A queue whose requests get reservations one by one: permits, delay and timeout of each. */
function open(clock: { tick(ms: number): unknown }, delays: readonly (readonly [number, number, number?])[]) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  const requests = delays.map(([cost, , timeout = Infinity], i) => line.ask(recorded, [cost], timeout, i));
  clock.tick(0);
  const { request, reply } = ledger.reserves[0];
  const segments = delays.map(([, delay]) => ({ count: 1, delay, retryAfter: 0 }));
  reply(null, replyTo(request, [], { segments }));
  /** The refunds at the end of the turn, as rows: count, cost, moment. */
  const refunds = () => {
    clock.tick(0);
    const all = ledger.refunds.flatMap(({ refunds }) => refunds);
    return all.map(({ count, cost, moment }) => [count, cost[0], moment - 1_700_000_000_000]);
  };
  const ends = () => recorded.endings.map(({ data, what, at }) => [data, what, at]);
  return { ledger, line, recorded, requests, refunds, ends };
}

timed('requests of the same cost move up, and the last of their moments is refunded', (clock) => {
  const delays = [50, 60, 70].map((delay) => [1, delay] as const);
  const { line, requests, refunds, ends } = open(clock, [...delays, [2, 90], [1, 95]]);
  line.cancel(requests[0]);
  assert.equal(refunds(), [[1, 1, 70]]);
  clock.tick(100);
  assert.equal(ends(), [
    [1, 'granted', 50],
    [2, 'granted', 60],
    [3, 'granted', 90],
    [4, 'granted', 95],
  ]);
});

timed('a cancelled moment between other costs is refunded, and no request moves', (clock) => {
  const { line, requests, refunds, ends } = open(clock, [
    [1, 50],
    [2, 60],
    [1, 70],
  ]);
  line.cancel(requests[1]);
  assert.equal(refunds(), [[1, 2, 60]]);
  clock.tick(100);
  assert.equal(ends(), [
    [0, 'granted', 50],
    [2, 'granted', 70],
  ]);
});

timed('requests that were separated by a cancelled one of another cost move up together', (clock) => {
  const { line, requests, refunds, ends } = open(clock, [
    [1, 50],
    [2, 60],
    [1, 70],
    [2, 75],
    [1, 80],
    [3, 90],
  ]);
  line.cancel(requests[1]);
  line.cancel(requests[3]);
  line.cancel(requests[0]);
  assert.equal(refunds(), [
    [1, 2, 60],
    [1, 2, 75],
    [1, 1, 80],
  ]);
  clock.tick(100);
  assert.equal(ends(), [
    [2, 'granted', 50],
    [4, 'granted', 70],
    [5, 'granted', 90],
  ]);
});

timed('a moment earlier than those in front of it is not granted before them', (clock) => {
  const { ends } = open(clock, [
    [1, 90],
    [1, 50],
  ]);
  clock.tick(100);
  assert.equal(ends(), [
    [0, 'granted', 90],
    [1, 'granted', 90],
  ]);
});

timed(
  'a request that this delays beyond its deadline is denied at once, and its moment refunded',
  (clock) => {
    const { ends, refunds } = open(clock, [
      [1, 90],
      [1, 50, 60],
    ]);
    assert.equal(ends(), [[1, 'denied', 0]]);
    assert.equal(refunds(), [[1, 1, 50]]);
    clock.tick(100);
    assert.equal(ends()[1], [0, 'granted', 90]);
  },
);

timed('a request that may not wait is denied as soon as earlier ones have to wait', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<string>();
  line.ask(recorded, [1], Infinity, 'patient');
  clock.tick(10);
  // Behind a request without a reservation, so that it is not sent at once.
  line.ask(recorded, [100], Infinity, 'big');
  line.ask(recorded, [1], 0, 'hurried');
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [500]));
  clock.tick(0);
  const again = ledger.reserves[1];
  again?.reply(null, replyTo(again.request, [600]));
  assert.equal(
    recorded.endings.map((end) => [end.data, end.at, end.what === 'denied' && end.retryAfter]),
    [['hurried', 10, undefined]],
  );
});

timed('a moment whose reply was read late is due no later than the next one', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  line.ask(recorded, [1], Infinity, 0);
  clock.tick(0);
  const answered = Date.now();
  clock.tick(200);
  const [first] = ledger.reserves;
  first.reply(null, replyTo(first.request, [15], { now: answered }));
  line.ask(recorded, [1], Infinity, 1);
  clock.tick(0);
  const [, second] = ledger.reserves;
  second.reply(null, replyTo(second.request, [1]));
  clock.tick(100);
  assert.equal(
    recorded.endings.map(({ data, at }) => [data, at]),
    [
      [0, 201],
      [1, 201],
    ],
  );
});

test.run();
