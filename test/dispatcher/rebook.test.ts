import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Waiter } from '../../src/port/line.ts';
import { timed } from '../support/fakeTime.ts';
import { diary } from '../support/lines.ts';
import { writtenLine } from './writtenLine.ts';

timed('what a reply brings goes to those who stand in front of those who asked for it', (clock) => {
  const { ledger, line, heard, counter, answer, asked } = writtenLine();
  const [a, b, c] = ['a', 'b', 'c'].map(counter);
  for (let i = 0; i < 10; i++) line.count(a, [1]);
  clock.tick(0);
  answer([[10, 5000]]);
  line.count(b, [1]);
  line.count(c, [1]);
  clock.tick(0);
  assert.equal(asked(), [[2, 1]]);
  // The rate was raised meanwhile: two are granted at once, and those at the head of the line stand no more.
  answer([[2, 0]], { epoch: 2, voidAfter: 2000 });
  assert.equal(
    heard.map(([name]) => name),
    ['a', 'a'],
  );
  assert.equal(asked(), [[10, 1]]);
  answer([[10, 0]], { epoch: 2 });
  assert.equal(
    heard.map(([name]) => name),
    [...Array(10).fill('a'), 'b', 'c'],
  );
  // Nothing of the new epoch was given back.
  const given = ledger.refunds.flatMap(({ refunds }) => refunds);
  assert.equal(
    given.map(({ count, epoch }) => [count, epoch]),
    [[10, 1]],
  );
});

timed('moments of another cost than that of those who stand in front are given back', (clock) => {
  const { ledger, line, heard, counter, answer, asked } = writtenLine();
  const [a, b] = ['a', 'b'].map(counter);
  for (let i = 0; i < 10; i++) line.count(a, [1]);
  clock.tick(0);
  answer([[10, 5000]]);
  line.count(b, [2]);
  clock.tick(0);
  assert.equal(asked(), [[1, 2]]);
  answer([[1, 0]], { epoch: 2, voidAfter: 0 });
  assert.equal(heard, []);
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
    heard.map(([name]) => name),
    [...Array(10).fill('a'), 'b'],
  );
});

/** A count of 40, of which 20 are booked for 2500, and the others were until a later epoch, which is told of at 2000. */
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
  // The first of b take the moments of a, and the last of theirs are given back.
  line.cancelAll(a as Waiter<never>);
  clock.tick(2000);
  assert.equal(asked(), []);
  answer([], { epoch: 2, voidAfter: 600 });
  assert.equal(counts(), [20, 20]);
  return { ...all, b };
}

timed('a count whose moments lie on both sides of what still stands is un-booked in its middle', (clock) => {
  const { heard, answer, asked } = halfStanding(clock);
  clock.tick(500);
  assert.equal(asked(), [[20, 1]]);
  answer([[20, 400]], { epoch: 2 });
  clock.tick(1000);
  assert.equal(
    heard.map(([name, at]) => `${name} ${at}`),
    [...Array(20).fill('b 2500'), ...Array(20).fill('b 2900')],
  );
});

timed('whoever abandons a count that stands in part gives back that part', (clock) => {
  const { ledger, line, b, heard, counts } = halfStanding(clock);
  line.cancelAll(b as Waiter<never>);
  assert.equal(counts(), [0, 0]);
  clock.tick(1000);
  assert.equal(heard, []);
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
  'those who are un-booked stand in front of whoever comes later, who is refused at once for want of time',
  (clock) => {
    const { ledger, line, answer } = writtenLine();
    const heard = diary<string>();
    for (let i = 0; i < 3; i++) line.ask(heard, [1000], Infinity, 'booked');
    clock.tick(0);
    assert.equal(
      ledger.reserves[0].request.runs.map(({ count }) => count),
      [1],
    );
    answer([[1, 500]]);
    line.pause(
      (done) => done(null, 600),
      () => {},
    );
    // 3000 permits stand in front of it: three seconds at the least.
    line.ask(heard, [1000], 2900, 'late');
    line.ask(heard, [1000], 3100, 'in time');
    assert.equal(heard.all('late'), ['late']);
  },
);

test.run();
