import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { diary, openLedger, openLine } from '../support/lines.ts';
import { booked, scriptedLedger } from '../support/scriptedLedger.ts';
import { slowLedger } from '../support/slowLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A line whose replies are written by the test, by a store whose clock is the test's. */
function open() {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const heard = diary<string>();
  const last = () => ledger.reserves[ledger.reserves.length - 1];
  /** Answers the last call: a delay for all, as the store's clock said so long ago. */
  const answer = (delay: number, ago = 0) => {
    const { request, reply } = last();
    reply(
      null,
      booked(
        request,
        request.runs.map(() => delay),
        { now: Date.now() - ago },
      ),
    );
  };
  const ends = () => heard.endings.map(({ data, what, at }) => [data, what, at]);
  return { ledger, line, heard, last, answer, ends };
}

for (const timeout of [0, 1, 5, 9.5])
  timed(
    `at a round trip of 10 ms, free permits are granted within ${timeout} ms of the store's time`,
    (clock) => {
      const wire = slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 5, back: 5 });
      const line = openLine(limit, wire);
      const heard = diary<number>();
      for (let i = 0; i < 10; i++) {
        line.ask(heard, [1], timeout, i);
        clock.tick(25);
      }
      assert.is(heard.all('granted').length, 10);
    },
  );

timed('a request whose time was over when it was sent is sent as one that may not wait', (clock) => {
  const { line, heard, last, answer, ends } = open();
  line.ask(heard, [1], Infinity, 'first');
  clock.tick(10);
  line.ask(heard, [2], 5, 'short');
  clock.tick(20);
  answer(0);
  assert.equal(last().request.runs[0].maxWait, 0);
  clock.tick(20);
  answer(0);
  assert.equal(ends(), [
    ['first', 'granted', 30],
    ['short', 'granted', 50],
  ]);
});

timed('once the first answer has come, only the deadline counts', (clock) => {
  const { line, heard, answer, ends } = open();
  line.ask(heard, [1], 20, 'short');
  clock.tick(40);
  answer(-1);
  assert.equal(ends(), [['short', 'late', 40]]);
});

timed('an answer to a call that was sent before is none', (clock) => {
  const { line, heard, answer, ends } = open();
  line.ask(heard, [1], Infinity, 'first');
  clock.tick(1);
  line.ask(heard, [1], 5, 'short');
  clock.tick(30);
  answer(0);
  assert.equal(ends(), [['first', 'granted', 31]]);
  clock.tick(30);
  answer(0);
  assert.equal(ends()[1], ['short', 'granted', 61]);
});

timed('without an answer it is refused after 100 ms, or four mean round trips', (clock) => {
  const { line, heard, answer, ends } = open();
  line.ask(heard, [1], 5, 'short');
  clock.tick(99);
  assert.equal(ends(), []);
  clock.tick(1);
  assert.equal(ends(), [['short', 'late', 100]]);
  answer(0);
  line.ask(heard, [1], 5, 'then');
  clock.tick(399);
  assert.is(ends().length, 1);
  clock.tick(1);
  assert.equal(ends()[1], ['then', 'late', 500]);
});

timed('behind those who wait, a deadline is kept', (clock) => {
  const { line, heard, answer, ends } = open();
  line.ask(heard, [1], Infinity, 'first');
  clock.tick(10);
  answer(200);
  line.ask(heard, [1], 5, 'short');
  clock.tick(100);
  assert.equal(ends()[0][1], 'late');
  assert.ok((ends()[0][2] as number) <= 15);
});

timed('a moment inside the time-out is granted though the reply was read long after it', (clock) => {
  const { line, heard, answer, ends } = open();
  line.ask(heard, [1], Infinity, 'first');
  clock.tick(10);
  answer(0, 5);
  line.ask(heard, [1], 500, 'second');
  clock.tick(400);
  // The store has answered at 15: the moment was 115.
  answer(100, 395);
  assert.equal(ends(), [
    ['first', 'granted', 10],
    ['second', 'granted', 410],
  ]);
});

timed('a moment is due when it is meant, by the quickest of the last replies, and never early', (clock) => {
  const { line, heard, answer, ends } = open();
  line.ask(heard, [1], Infinity, 'first');
  clock.tick(10);
  answer(0, 3);
  line.ask(heard, [1], Infinity, 'second');
  clock.tick(60);
  // Answered at 20: the moment is 120, and the way back takes at most three.
  answer(100, 50);
  clock.tick(1000);
  assert.equal(ends()[1], ['second', 'granted', 123]);
});

timed('what was measured is forgotten after ten seconds, and with another epoch', (clock) => {
  for (const wait of [1, 11_000]) {
    const { line, heard, ledger, last, answer, ends } = open();
    line.ask(heard, [1], Infinity, 'first');
    clock.tick(10);
    answer(0);
    clock.tick(wait);
    for (let i = 0; wait > 1 && i < 3; i++) {
      line.ask(heard, [1], Infinity, 'between');
      clock.tick(10);
      answer(0, 8);
      clock.tick(5_500);
    }
    line.ask(heard, [1], Infinity, 'last');
    clock.tick(100);
    const { request, reply } = last();
    const epoch = wait > 1 ? 1 : 2;
    const received = performance.now();
    reply(null, booked(request, [200], { now: Date.now() - 50, epoch }));
    clock.tick(1000);
    assert.ok(ledger.reserves.length > 1);
    const end = ends().pop()!;
    // By the epoch's first reply it is counted from the receipt; else eight milliseconds are the least that it takes.
    assert.equal(end, ['last', 'granted', wait > 1 ? received - 50 + 200 + 8 : received + 200]);
  }
});

timed('where nothing is known of the way back, a moment that may be in time is granted', (clock) => {
  const { line, heard, answer, ends } = open();
  line.ask(heard, [1], 150, 'first');
  clock.tick(80);
  answer(100, 40);
  clock.tick(200);
  assert.equal(ends()[0][1], 'granted');
});

timed('the least time of those behind counts from when it was asked for, not from the receipt', (clock) => {
  const { line, heard, answer, ends } = open();
  line.ask(heard, [1000], Infinity, 'first');
  clock.tick(90);
  answer(500);
  // Booked for 500 at the soonest: the next thousand come a second later, and may be in time.
  line.ask(heard, [1000], 1410, 'in time');
  line.ask(heard, [1000], 1409, 'late');
  assert.equal(ends(), [['late', 'late', 90]]);
});

test.run();
