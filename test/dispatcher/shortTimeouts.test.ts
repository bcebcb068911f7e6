import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';
import { slowLedger } from '../support/slowLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A dispatcher whose replies the test writes, with the times of the store's clock. */
function open() {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<string>();
  const last = () => ledger.reserves[ledger.reserves.length - 1];
  /** Replies to the last call: one delay for all requests, measured by the store's clock `ago` ms earlier. */
  const answer = (delay: number, ago = 0) => {
    const { request, reply } = last();
    reply(null, replyTo(request, delay, { now: Date.now() - ago }));
  };
  const ends = () => recorded.endings.map(({ data, what, at }) => [data, what, at]);
  return { ledger, line, recorded, last, answer, ends };
}

for (const timeout of [0, 1, 5, 9.5])
  timed(
    `at a round trip of 10 ms, free permits are granted within ${timeout} ms of the store's time`,
    (clock) => {
      const wire = slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 5, back: 5 });
      const line = openLine(limit, wire);
      const recorded = recorder<number>();
      for (let i = 0; i < 10; i++) {
        line.ask(recorded, [1], timeout, i);
        clock.tick(25);
      }
      assert.is(recorded.all('granted').length, 10);
    },
  );

timed('a request whose deadline has passed is sent as one that may not wait', (clock) => {
  const { line, recorded, last, answer, ends } = open();
  line.ask(recorded, [1], Infinity, 'first');
  clock.tick(10);
  line.ask(recorded, [2], 5, 'short');
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

timed('after the first reply, only the deadline counts', (clock) => {
  const { line, recorded, answer, ends } = open();
  line.ask(recorded, [1], 20, 'short');
  clock.tick(40);
  answer(-1);
  assert.equal(ends(), [['short', 'denied', 40]]);
});

timed('the reply to an earlier call does not count as the first reply', (clock) => {
  const { line, recorded, answer, ends } = open();
  line.ask(recorded, [1], Infinity, 'first');
  clock.tick(1);
  line.ask(recorded, [1], 5, 'short');
  clock.tick(30);
  answer(0);
  assert.equal(ends(), [['first', 'granted', 31]]);
  clock.tick(30);
  answer(0);
  assert.equal(ends()[1], ['short', 'granted', 61]);
});

timed('without a reply, a request is denied after 100 ms or four mean round trips', (clock) => {
  const { line, recorded, answer, ends } = open();
  line.ask(recorded, [1], 5, 'short');
  clock.tick(99);
  assert.equal(ends(), []);
  clock.tick(1);
  assert.equal(ends(), [['short', 'denied', 100]]);
  answer(0);
  line.ask(recorded, [1], 1, 'then');
  clock.tick(399);
  assert.is(ends().length, 1);
  clock.tick(1);
  assert.equal(ends()[1], ['then', 'denied', 500]);
});

timed('a reply that once took seconds does not delay denials', (clock) => {
  const { line, recorded, answer, ends } = open();
  for (const trip of [1, 1, 1, 5_000]) {
    line.ask(recorded, [1], Infinity, 'first');
    clock.tick(trip);
    answer(0);
  }
  line.ask(recorded, [1], 5, 'short');
  clock.tick(100);
  assert.equal(ends().at(-1), ['short', 'denied', 5_103]);
});

timed('behind waiting requests, the deadline counts at once', (clock) => {
  const { line, recorded, answer, ends } = open();
  line.ask(recorded, [1], Infinity, 'first');
  clock.tick(10);
  answer(200);
  line.ask(recorded, [1], 5, 'short');
  clock.tick(100);
  assert.equal(ends()[0][1], 'denied');
  assert.ok((ends()[0][2] as number) <= 15);
});

timed('behind a reservation that is due in time, too', (clock) => {
  const { line, recorded, answer, ends } = open();
  line.ask(recorded, [1], Infinity, 'first');
  clock.tick(10);
  answer(4);
  line.ask(recorded, [1], 5, 'short');
  clock.tick(100);
  assert.equal(ends(), [
    ['first', 'granted', 14],
    ['short', 'denied', 15],
  ]);
});

timed('a moment within the timeout is granted although the reply was read long after it', (clock) => {
  const { line, recorded, answer, ends } = open();
  line.ask(recorded, [1], Infinity, 'first');
  clock.tick(10);
  answer(0, 5);
  line.ask(recorded, [1], 500, 'second');
  clock.tick(400);
  // The store replied at 15: the moment was 115.
  answer(100, 395);
  assert.equal(ends(), [
    ['first', 'granted', 10],
    ['second', 'granted', 410],
  ]);
});

timed('a moment is due by the fastest of the recent replies, and never early', (clock) => {
  const { line, recorded, answer, ends } = open();
  line.ask(recorded, [1], Infinity, 'first');
  clock.tick(10);
  answer(0, 3);
  line.ask(recorded, [1], Infinity, 'second');
  clock.tick(60);
  // The store replied at 20: the moment is 120, and the reply takes at most three milliseconds.
  answer(100, 50);
  clock.tick(1000);
  assert.equal(ends()[1], ['second', 'granted', 123]);
});

timed('a measured clock offset is dropped after ten seconds, and with another epoch', (clock) => {
  for (const wait of [1, 11_000]) {
    const { line, recorded, ledger, last, answer, ends } = open();
    line.ask(recorded, [1], Infinity, 'first');
    clock.tick(10);
    answer(0);
    clock.tick(wait);
    for (let i = 0; wait > 1 && i < 3; i++) {
      line.ask(recorded, [1], Infinity, 'between');
      clock.tick(10);
      answer(0, 8);
      clock.tick(5_500);
    }
    line.ask(recorded, [1], Infinity, 'last');
    clock.tick(100);
    const { request, reply } = last();
    const epoch = wait > 1 ? 1 : 2;
    const received = performance.now();
    reply(null, replyTo(request, [200], { now: Date.now() - 50, epoch }));
    clock.tick(1000);
    assert.ok(ledger.reserves.length > 1);
    const end = ends().pop()!;
    // After the epoch's first reply, the moment counts from the receipt; otherwise a reply takes at least eight milliseconds.
    assert.equal(end, ['last', 'granted', wait > 1 ? received - 50 + 200 + 8 : received + 200]);
  }
});

timed('without a measured clock offset, a moment that may be in time is granted', (clock) => {
  const { line, recorded, answer, ends } = open();
  line.ask(recorded, [1], 150, 'first');
  clock.tick(80);
  answer(100, 40);
  clock.tick(200);
  assert.equal(ends()[0][1], 'granted');
});

timed(
  'the least wait of requests behind counts from when the call was sent, not from the receipt',
  (clock) => {
    const { line, recorded, answer, ends } = open();
    line.ask(recorded, [1000], Infinity, 'first');
    clock.tick(90);
    answer(500);
    // Reserved for 500 at the earliest: the next thousand follow a second later, and may be in time.
    line.ask(recorded, [1000], 1410, 'in time');
    line.ask(recorded, [1000], 1409, 'denied');
    assert.equal(ends(), [['denied', 'denied', 90]]);
  },
);

test.run();
