import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { diary, openLine } from '../support/lines.ts';
import { booked, later, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A line over a store that cannot book: it answers at once, with `retryAfter` alone. */
function open(waiters: number, retryAfter: number) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const heard = diary<number>();
  for (let i = 0; i < waiters; i++) line.ask(heard, [1], Infinity, i);
  const deny = () => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    reply(null, later(request, retryAfter));
  };
  return { ledger, line, heard, deny };
}

for (const waiters of [1, 10, 1000])
  timed(
    `a store that cannot book is asked once per retryAfter, and one timer is set: ${waiters} wait`,
    (clock) => {
      const { ledger, deny } = open(waiters, 100);
      clock.tick(0);
      for (let calls = 1; calls <= 10; calls++) {
        assert.is(ledger.reserves.length, calls);
        deny();
        assert.is(clock.countTimers(), 1);
        clock.tick(99);
        assert.is(ledger.reserves.length, calls);
        clock.tick(1);
      }
    },
  );

timed('who comes meanwhile does not make it ask sooner', (clock) => {
  const { ledger, line, heard, deny } = open(3, 100);
  clock.tick(0);
  deny();
  for (let i = 0; i < 9; i++) {
    clock.tick(10);
    line.ask(heard, [1], Infinity, 3 + i);
  }
  assert.is(ledger.reserves.length, 1);
  clock.tick(10);
  assert.is(ledger.reserves.length, 2);
});

timed('once the store grants, the line goes on in its order', (clock) => {
  const { ledger, heard, deny } = open(3, 100);
  clock.tick(0);
  deny();
  clock.tick(100);
  const { request, reply } = ledger.reserves[1];
  reply(null, booked(request, [0]));
  assert.equal(heard.all('granted'), [0, 1, 2]);
  assert.is(clock.countTimers(), 0);
});

timed('a request that will not wait does not overtake those who do, and costs no call', (clock) => {
  const { ledger, line, heard, deny } = open(1, 100);
  clock.tick(0);
  deny();
  line.ask(heard, [1], 0, 1);
  clock.tick(10);
  assert.equal(heard.all('late'), [1]);
  assert.is(ledger.reserves.length, 1);
});

timed('nobody waits beyond the time-out for a store that cannot book', (clock) => {
  const { line, heard, deny } = open(1, 100);
  line.ask(heard, [1], 70, 1);
  clock.tick(0);
  deny();
  clock.tick(70);
  assert.equal(
    heard.endings.map(({ data, what, at }) => [data, what, at]),
    [[1, 'late', 70]],
  );
});

timed('a line that is empty does not ask again', (clock) => {
  const { ledger, line, heard, deny } = open(0, 100);
  const request = line.ask(heard, [1], Infinity, 0);
  clock.tick(0);
  deny();
  line.cancel(request);
  clock.tick(1000);
  assert.is(ledger.reserves.length, 1);
  assert.is(clock.countTimers(), 0);
});

test.run();
