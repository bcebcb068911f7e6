import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Limit, leakyBucket } from '../../src/limits/limit.ts';
import type { Waiter } from '../../src/port/line.ts';
import { timed } from '../support/fakeTime.ts';
import { recorder } from '../support/lines.ts';
import { writtenLine } from './scriptedReplies.ts';

timed('moments of a reply go to the first requests of the queue', (clock) => {
  const { ledger, line, recorded, counter, answer, asked } = writtenLine();
  const [a, b, c] = ['a', 'b', 'c'].map(counter);
  for (let i = 0; i < 10; i++) line.count(a, [1]);
  clock.tick(0);
  answer([[10, 5000]]);
  line.count(b, [1]);
  line.count(c, [1]);
  clock.tick(0);
  assert.equal(asked(), [[2, 1]]);
  // The rate was raised meanwhile: two requests are granted at once, and the first reservations are void.
  answer([[2, 0]], { epoch: 2, voidAfter: 2000 });
  assert.equal(
    recorded.map(([name]) => name),
    ['a', 'a'],
  );
  assert.equal(asked(), [[10, 1]]);
  answer([[10, 0]], { epoch: 2 });
  assert.equal(
    recorded.map(([name]) => name),
    [...Array(10).fill('a'), 'b', 'c'],
  );
  // Nothing of the new epoch was refunded.
  const given = ledger.refunds.flatMap(({ refunds }) => refunds);
  assert.equal(
    given.map(({ count, epoch }) => [count, epoch]),
    [[10, 1]],
  );
});

timed('a moment in front of a reservation that stands is refunded, not granted late', (clock) => {
  const { ledger, line, recorded, counter, answer, asked } = writtenLine();
  const [a, b] = ['a', 'b'].map(counter);
  for (let i = 0; i < 3; i++) line.count(a, [1]);
  clock.tick(0);
  answer([
    [1, 1500],
    [2, 5000],
  ]);
  line.count(b, [1]);
  clock.tick(0);
  // The client's last reservation is void, so the store does not know that one in front of it stands.
  answer([[1, 0]], { epoch: 2, voidAfter: 2000 });
  clock.tick(0);
  assert.equal(recorded, []);
  assert.equal(
    ledger.refunds[0].refunds.map(({ count, epoch }) => [count, epoch]),
    [
      [2, 1],
      [1, 2],
    ],
  );
  assert.equal(asked(), [[3, 1]]);
  assert.is(ledger.reserves[2].request.last?.due, 1500);
});

timed('moments whose cost differs from that of the first requests are refunded', (clock) => {
  const { ledger, line, recorded, counter, answer, asked } = writtenLine();
  const [a, b] = ['a', 'b'].map(counter);
  for (let i = 0; i < 10; i++) line.count(a, [1]);
  clock.tick(0);
  answer([[10, 5000]]);
  line.count(b, [2]);
  clock.tick(0);
  assert.equal(asked(), [[1, 2]]);
  answer([[1, 0]], { epoch: 2, voidAfter: 0 });
  assert.equal(recorded, []);
  clock.tick(0);
  const given = ledger.refunds.flatMap(({ refunds }) => refunds);
  assert.equal(
    given.map(({ count, cost, epoch }) => [count, cost[0], epoch]),
    [
      [10, 1, 1],
      [1, 2, 2],
    ],
  );
  assert.equal(asked(), [
    [10, 1],
    [1, 2],
  ]);
  answer(
    [
      [10, 0],
      [1, 0],
    ],
    { epoch: 2 },
  );
  assert.equal(
    recorded.map(([name]) => name),
    [...Array(10).fill('a'), 'b'],
  );
});

/** A counted request of 40: 20 keep reservations at 2500 ms; a new epoch voids the others at 2000 ms. */
function halfStanding(clock: { tick(ms: number): unknown }) {
  const all = writtenLine();
  const { line, counter, answer, asked, counts } = all;
  const [a, b] = ['a', 'b'].map(counter);
  for (let i = 0; i < 20; i++) line.count(a, [1]);
  for (let i = 0; i < 40; i++) line.count(b, [1]);
  clock.tick(0);
  answer([
    [20, 2500],
    [40, 2800],
  ]);
  // The first requests of b get the moments of a, and their last moments are refunded.
  line.cancelAll(a as Waiter<never>);
  clock.tick(2000);
  assert.equal(asked(), []);
  answer([], { epoch: 2, voidAfter: 1100 });
  assert.equal(counts(), [20, 20]);
  return { ...all, b };
}

timed('a counted request loses only the moments that are void', (clock) => {
  const { recorded, answer, asked } = halfStanding(clock);
  clock.tick(500);
  assert.equal(asked(), [[20, 1]]);
  answer([[20, 400]], { epoch: 2 });
  clock.tick(1000);
  assert.equal(
    recorded.map(([name, at]) => `${name} ${at}`),
    [...Array(20).fill('b 2500'), ...Array(20).fill('b 2900')],
  );
});

timed('a moment in front of reservations of another cost does not go to a request behind them', (clock) => {
  const { ledger, line, answer } = writtenLine();
  const recorded = recorder<string>();
  const first = line.ask(recorded, [1], Infinity, 'first');
  line.ask(recorded, [2], Infinity, 'second');
  clock.tick(0);
  answer([
    [1, 500],
    [1, 600],
  ]);
  const start = Date.now();
  line.ask(recorded, [1], Infinity, 'third');
  line.cancel(first);
  clock.tick(0);
  // It would be granted to it with the moment of the second, and be later than its permits.
  assert.equal(
    ledger.refunds.flatMap(({ refunds }) => refunds.map(({ moment, count }) => [moment - start, count])),
    [[500, 1]],
  );
});

timed('cancelling a counted request refunds the reservations it still has', (clock) => {
  const { ledger, line, b, recorded, counts } = halfStanding(clock);
  line.cancelAll(b as Waiter<never>);
  assert.equal(counts(), [0, 0]);
  clock.tick(1000);
  assert.equal(recorded, []);
  ledger.refunds[0].reply(null);
  const given = ledger.refunds.flatMap(({ refunds }) => refunds);
  const moments = given.map(({ count, moment }) => [count, moment - 1_700_000_000_000]);
  assert.equal(moments, [
    [20, 2800],
    [20, 2800],
    [20, 2500],
  ]);
  assert.is(clock.countTimers(), 0);
});

timed(
  'requeued requests stay in front of later ones, which are denied at once if they are hopeless',
  (clock) => {
    const { ledger, line, answer } = writtenLine();
    const recorded = recorder<string>();
    for (let i = 0; i < 3; i++) line.ask(recorded, [1000], Infinity, 'reserved');
    clock.tick(0);
    assert.equal(
      ledger.reserves[0].request.runs.map(({ count }) => count),
      [1],
    );
    answer([[1, 500]]);
    line.dispatcher.changes.pause(
      (done) => done(null, 600),
      () => {},
    );
    // 3000 permits are queued before it: at least three seconds.
    line.ask(recorded, [1000], 2900, 'denied');
    line.ask(recorded, [1000], 3100, 'in time');
    assert.equal(recorded.all('denied'), ['denied']);
  },
);

/** The times between the moves of a client that brings nothing forward, although permits are refunded. */
function movesOf(
  clock: { tick(ms: number): void },
  limit: Limit | undefined,
  reserved: number,
  contenders = 1,
) {
  const { ledger, line, answer } = writtenLine(limit);
  const recorded = recorder<number>();
  line.ask(recorded, [1], Infinity, 0);
  clock.tick(0);
  answer([[1, 0]]);
  for (let i = 0; i < reserved; i++) line.ask(recorded, [1], Infinity, i);
  clock.tick(0);
  answer([[reserved, 5000]], { contenders });
  const [first] = recorded.endings;
  assert.ok(first.what === 'granted');
  const nextMove = () => {
    const before = ledger.reserves.length;
    line.refund({ ...first.grant, cost: [1] });
    for (let i = 0; i < 200; i++) {
      for (const { refunds, reply } of ledger.refunds.splice(0))
        reply(null, { restored: refunds.map(() => true) });
      if (ledger.reserves.length > before) break;
      clock.tick(1);
    }
    answer([[reserved, 5000]], { contenders });
    return performance.now();
  };
  const moves = Array.from({ length: 6 }, nextMove);
  return moves.slice(1).map((at, i) => at - moves[i]);
}

timed('the time between two moves doubles with each that brings nothing forward, up to 100 ms', (clock) => {
  assert.equal(movesOf(clock, undefined, 10).slice(1), [40, 80, 100, 100]);
});

timed(
  'beside one other client, a client whose requests are rare moves after 20 ms at the latest',
  (clock) => {
    assert.equal(
      movesOf(clock, leakyBucket({ permits: 1, interval: 1000 }), 1, 2).slice(1),
      [16, 20, 20, 20],
    );
  },
);

timed('the passes rest until the next move', (clock) => {
  const { ledger, line, answer } = writtenLine();
  const recorded = recorder<number>();
  for (let i = 0; i < 11; i++) line.ask(recorded, [1], Infinity, i);
  clock.tick(0);
  answer([
    [1, 0],
    [10, 5000],
  ]);
  const [first] = recorded.endings;
  assert.ok(first.what === 'granted');
  const refund = () => {
    line.refund({ ...first.grant, cost: [1] });
    clock.tick(0);
    for (const { refunds, reply } of ledger.refunds.splice(0))
      reply(null, { restored: refunds.map(() => true) });
  };
  refund();
  answer([[10, 5000]]);
  refund();
  const since = performance.now();
  clock.next();
  // Ten reservations, and one move that brought nothing forward.
  assert.is(performance.now() - since, 20);
});

test.run();
