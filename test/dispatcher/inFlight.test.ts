import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimiterClosedError } from '../../src/errors.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { diary, openLine } from '../support/lines.ts';
import { booked, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

function open() {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const answer = (delays: number[]) => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    reply(null, booked(request, delays));
  };
  /** What was given back, as rows: count and cost. */
  const givenBack = () =>
    ledger.refunds.flatMap(({ refunds }) => refunds.map(({ count, cost }) => [count, cost[0]]));
  return { ledger, line, answer, givenBack, heard: diary<string>() };
}

timed('a grant that comes after its request was cancelled is given back, from its own moment', (clock) => {
  const { ledger, line, answer, heard } = open();
  const request = line.ask(heard, [3], Infinity, 'cancelled');
  clock.tick(10);
  line.cancel(request);
  answer([50]);
  assert.equal(ledger.refunds[0].refunds, [
    { moment: Date.now() + 50, epoch: 1, source: 'memory', cost: [3], count: 1 },
  ]);
  clock.tick(1000);
  assert.is(heard.endings.length, 0);
});

timed(
  'a grant whose request was cancelled goes to the next of the same cost, asked later or not',
  (clock) => {
    const { line, answer, givenBack, heard } = open();
    const request = line.ask(heard, [1], Infinity, 'cancelled');
    clock.tick(10);
    line.ask(heard, [1], Infinity, 'next');
    line.cancel(request);
    answer([0]);
    assert.equal(heard.all('granted'), ['next']);
    assert.equal(givenBack(), []);
  },
);

timed('a grant whose request was cancelled does not pass a request of another cost', (clock) => {
  const { line, answer, givenBack, heard } = open();
  const request = line.ask(heard, [1], Infinity, 'cancelled');
  clock.tick(10);
  line.ask(heard, [2], Infinity, 'other');
  line.ask(heard, [1], Infinity, 'behind');
  line.cancel(request);
  answer([0]);
  assert.equal(heard.all('granted'), []);
  assert.equal(givenBack(), [[1, 1]]);
});

timed(
  'a request is refused at its time-out though its call is under way, and a late grant given back',
  (clock) => {
    const { line, answer, givenBack, heard } = open();
    line.ask(heard, [2], 100, 'late');
    clock.tick(99);
    assert.is(heard.endings.length, 0);
    clock.tick(1);
    assert.equal(
      heard.endings.map(({ what, at }) => [what, at]),
      [['late', 100]],
    );
    clock.tick(50);
    answer([0]);
    assert.equal(heard.all('granted'), []);
    assert.equal(givenBack(), [[1, 2]]);
  },
);

timed('a booking that a slow call makes too late is refused, and given back', (clock) => {
  const { line, answer, givenBack, heard } = open();
  line.ask(heard, [1], Infinity, 'first');
  clock.tick(0);
  answer([0]);
  line.ask(heard, [2], 100, 'late');
  clock.tick(80);
  answer([60]);
  assert.equal(
    heard.endings.map(({ what, at }) => [what, at]),
    [
      ['granted', 0],
      ['late', 80],
    ],
  );
  assert.equal(givenBack(), [[1, 2]]);
});

timed('leaving with all requests of a waiter gives back what they hold, and leaves the others', (clock) => {
  const { line, answer, givenBack, heard } = open();
  const other = diary<string>();
  line.ask(heard, [1], Infinity, 'booked');
  clock.tick(0);
  answer([40]);
  line.ask(heard, [1], Infinity, 'gone');
  line.ask(other, [1], Infinity, 'stays');
  line.cancelAll(heard);
  clock.tick(40);
  assert.equal(heard.endings, []);
  assert.equal(other.all('granted'), ['stays']);
  assert.equal(givenBack(), []);
});

timed('closing waits for the call under way, and gives its grants back', async (clock) => {
  const { ledger, line, answer, givenBack, heard } = open();
  for (const name of ['a', 'b']) line.ask(heard, [1], Infinity, name);
  clock.tick(10);
  let closed = false;
  const closing = line.close().then(() => {
    closed = true;
  });
  assert.equal(heard.all('refused'), ['a', 'b']);
  assert.ok(heard.endings.every((end) => end.what === 'refused' && end.error instanceof LimiterClosedError));
  await clock.tickAsync(10);
  answer([0]);
  assert.equal(givenBack(), [[2, 1]]);
  await clock.tickAsync(10);
  assert.is(closed, false);
  ledger.refunds[0].reply(null);
  await closing;
  assert.is(clock.countTimers(), 0);
});

test.run();
