import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { monotonicClock } from '../../src/clock.ts';
import { LedgerLine } from '../../src/limiter/ledgerLine.ts';
import { type Limit, slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const many = slidingWindow({ permits: 1000, interval: 1000 });

/** A line whose clock gains `lag` milliseconds just before the timer of a deadline after `due` ms fires. */
function open(lag: number, limit: Limit = many, due = 300) {
  const ledger = scriptedLedger(limit);
  const inner = monotonicClock();
  const clock = { ...inner, now: () => inner.now() + (inner.now() < due ? 0 : lag) };
  const named = { record: false, names: [''], limits: [limit] };
  const line = new LedgerLine<string>({ name: 'line', named, ledger, clock, maxQueue: Infinity });
  const grant = () => {
    const { request, reply } = ledger.reserves[0];
    reply(null, replyTo(request, 0));
  };
  return { line, ledger, recorded: recorder<string>(), grant };
}

timed('a timer that is late by one millisecond leaves a turn for the replies that have arrived', (clock) => {
  const { line, recorded, grant } = open(1);
  for (const data of ['a', 'b']) line.ask(recorded, [1], 300, data);
  clock.tick(299);
  clock.next();
  assert.equal(recorded.endings, []);
  // Another request of that turn causes a pass.
  line.ask(recorded, [1], Infinity, 'c');
  clock.runMicrotasks();
  assert.equal(recorded.endings, []);
  grant();
  assert.equal(recorded.all('granted'), ['a', 'b']);
});

timed(
  'without a reply in that turn, a request is denied after it, and a late one is no longer granted',
  (clock) => {
    const { line, recorded, grant } = open(1);
    line.ask(recorded, [1], 300, 'a');
    clock.tick(299);
    clock.next();
    clock.next();
    assert.equal(recorded.all('denied'), ['a']);
    grant();
    assert.is(recorded.endings.length, 1);
  },
);

timed('a timer that is late by less than a millisecond denies at once', (clock) => {
  const { line, recorded } = open(0.9);
  line.ask(recorded, [1], 300, 'a');
  clock.tick(299);
  clock.next();
  assert.equal(recorded.all('denied'), ['a']);
});

timed('a late timer denies a request at once if no call has it', (clock) => {
  const { line, recorded } = open(5);
  line.ask(recorded, [1], Infinity, 'sent');
  clock.tick(1);
  line.ask(recorded, [1], 299, 'queued');
  clock.tick(298);
  clock.next();
  assert.equal(recorded.all('denied'), ['queued']);
});

timed('a late timer denies no request of a call because others expire before, or may', (clock) => {
  const few = slidingWindow({ permits: 10, interval: 1000 });
  const { line, recorded, ledger } = open(10, few, 5000);
  const answer = (delay: number) => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    reply(null, replyTo(request, delay));
  };
  line.count(recorded, [1], 'first', 60_000);
  clock.tick(1);
  answer(500);
  // The certain ones have one object: the deadline of the first of them stays that of the rest.
  line.count(recorded, [1], 'a', 4999);
  line.count(recorded, [1], 'b', 5001);
  for (let i = 0; i < 20; i++) line.count(recorded, [1], 'c', 9000 + i);
  line.ask(recorded, [1], 5000, 'd');
  clock.tick(600);
  answer(0);
  clock.tick(4999 - performance.now());
  clock.next();
  assert.is(performance.now(), 5000);
  assert.equal(recorded.all('denied'), ['d']);
  answer(0);
  assert.equal(recorded.all('granted').slice(0, 3), ['first', 'a', 'b']);
});

test.run();
