// A client asks, with its heartbeats, for earlier moments than those that it has reserved.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { outcome } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { recorder } from '../support/lines.ts';
import { writtenLine } from './scriptedReplies.ts';

/** Four requests of one permit that are due after 5 and 6 s, and two of two permits behind them. */
function reserved(clock: { tick(ms: number): void }) {
  const written = writtenLine();
  const { line, answer } = written;
  const waiter = recorder<string>();
  const requests = ['a', 'b', 'c', 'd'].map((name) => line.ask(waiter, [1], Infinity, name));
  for (const name of ['e', 'f']) line.ask(waiter, [2], Infinity, name);
  clock.tick(0);
  answer([
    [2, 5000],
    [2, 6000],
    [2, 7000],
  ]);
  clock.tick(1500);
  const refunded = () => written.ledger.refunds.flatMap(({ refunds }) => refunds);
  const times = () => waiter.endings.map(({ what, data, at }) => `${data} ${what} ${at}`);
  return { ...written, requests, waiter, refunded, times, start: Date.now() - 1500 };
}

timed('it asks for all first requests of one cost, and keeps its place in the line', (clock) => {
  const { ledger } = reserved(clock);
  const { runs, held, last, earlier } = ledger.reserves[1].request;
  assert.equal(runs, [{ count: 4, cost: [1], maxWait: 3480 }]);
  assert.equal({ held, earlier, last: last!.due }, { held: 8, earlier: true, last: 7000 });
});

timed(
  'earlier moments go to the first requests, and the last moments of their cost are refunded',
  (clock) => {
    const { answer, refunded, times, start } = reserved(clock);
    answer([
      [2, 500],
      [1, 2500],
      [1, outcome.refused],
    ]);
    clock.tick(0);
    assert.equal(
      refunded().map(({ moment, count }) => [moment - start, count]),
      [
        [6000, 2],
        [5000, 1],
      ],
    );
    for (let beats = 0; beats < 2; beats++) {
      clock.tick(1500);
      answer([]);
    }
    clock.tick(500);
    assert.equal(times(), ['a granted 2000', 'b granted 2000', 'c granted 4000', 'd granted 5000']);
  },
);

timed('moments for requests that have left meanwhile are refunded', (clock) => {
  const { line, requests, answer, refunded, start } = reserved(clock);
  for (const request of requests) line.cancel(request);
  answer([[4, 500]]);
  clock.tick(0);
  assert.equal(
    refunded().map(({ moment, count }) => [moment - start, count]),
    [
      [6000, 2],
      [5000, 2],
      [2000, 4],
    ],
  );
});

timed(
  'moments that are earlier than a part of the reservations replace that part, and the rest is refunded',
  (clock) => {
    const { answer, refunded, start } = reserved(clock);
    // For 5500: after the first two.
    answer([[4, 4000]]);
    clock.tick(0);
    assert.equal(
      refunded().map(({ moment, count }) => [moment - start, count]),
      [
        [6000, 2],
        [5500, 2],
      ],
    );
  },
);

timed('a moment that is no earlier is refunded', (clock) => {
  const { answer, refunded, start } = reserved(clock);
  answer([[4, 4500]]);
  clock.tick(0);
  assert.equal(
    refunded().map(({ moment, count }) => [moment - start, count]),
    [[6000, 4]],
  );
});

timed('a client whose own reservations are in its way refunds them, and asks again at once', (clock) => {
  const { answer, asked, refunded, times, start } = reserved(clock);
  answer([[4, outcome.movesUp]]);
  clock.tick(0);
  assert.equal(
    refunded().map(({ moment, count }) => [moment - start, count]),
    [
      [7000, 2],
      [6000, 2],
      [5000, 2],
    ],
  );
  assert.equal(asked(), [
    [4, 1],
    [2, 2],
  ]);
  answer([
    [4, 0],
    [2, 3000],
  ]);
  assert.equal(
    times(),
    ['a', 'b', 'c', 'd'].map((name) => `${name} granted 1500`),
  );
});

timed('requests that are due before the next heartbeat are not asked for', (clock) => {
  const { line, answer, asked } = writtenLine();
  const waiter = recorder<number>();
  for (const i of [1, 2]) line.ask(waiter, [1], Infinity, i);
  clock.tick(0);
  answer([
    [1, 2900],
    [1, 9000],
  ]);
  clock.tick(1500);
  assert.equal(asked(), []);
});

test.run();
