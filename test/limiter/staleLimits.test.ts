import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { monotonicClock } from '../../src/clock.ts';
import { PermitsExceedLimitError } from '../../src/errors.ts';
import { LedgerLine } from '../../src/limiter/ledgerLine.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { outcome } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { diary } from '../support/lines.ts';
import { booked, scriptedLedger } from '../support/scriptedLedger.ts';

const own = slidingWindow({ permits: 2, interval: 60_000 });
const stored = slidingWindow({ permits: 100, interval: 1000 });

/** A line whose ledger knows of its own limit alone, until the store names another one. */
function open() {
  const ledger = scriptedLedger(own);
  const named = { record: false, names: [''], limits: [own] };
  const line = new LedgerLine<number>({
    name: 'api',
    named,
    ledger,
    clock: monotonicClock(),
    maxQueue: Infinity,
  });
  const answer = (delay: number) => {
    Object.assign(ledger, { limits: [stored] });
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    reply(
      null,
      booked(
        request,
        request.runs.map(() => delay),
      ),
    );
  };
  return { ledger, line, heard: diary<number>(), answer };
}

timed('more than the own limit is asked for where another rate may be stored', (clock) => {
  const { ledger, line, heard, answer } = open();
  line.ask(heard, line.costOf(50), Infinity, 0);
  clock.tick(0);
  assert.is(ledger.reserves[0].request.runs[0].cost[0], 50);
  answer(0);
  assert.equal(heard.all('granted'), [0]);
});

timed(
  'nobody is refused for the time that the own limit would take, where another rate may be stored',
  (clock) => {
    const { ledger, line, heard, answer } = open();
    // 50 of 2 a minute would take a day; so would those who stand in front of the last.
    line.ask(heard, line.costOf(50), 500, 0);
    for (let i = 1; i < 9; i++) line.ask(heard, line.costOf(1), Infinity, i);
    line.ask(heard, line.costOf(1), 500, 9);
    clock.tick(0);
    assert.equal(heard.endings, []);
    assert.is(ledger.reserves.length, 1);
    while (heard.endings.length < 10) answer(0);
    assert.equal(heard.all('granted'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  },
);

timed('what no limit allows is refused by the store, with the most that is allowed', (clock) => {
  const { line, heard, answer } = open();
  line.ask(heard, line.costOf(101), Infinity, 0);
  clock.tick(0);
  answer(outcome.exceedsLimit);
  const [ending] = heard.endings;
  assert.ok(ending.what === 'refused' && ending.error instanceof PermitsExceedLimitError);
  assert.is((ending.error as PermitsExceedLimitError).limit, 100);
});

timed(
  'a denial that is remembered does not stand for what no limit allows: that is for the store to say',
  (clock) => {
    const { ledger, line, heard } = open();
    line.ask(heard, line.costOf(1), 0, 0);
    clock.tick(100);
    const [{ request, reply }] = ledger.reserves;
    reply(null, booked(request, [], { segments: [{ count: 1, delay: outcome.refused, retryAfter: 5000 }] }));
    line.ask(heard, line.costOf(2), 0, 1);
    assert.equal(heard.all('late'), [0, 1]);
    line.ask(heard, line.costOf(3), 0, 2);
    clock.tick(0);
    assert.is(ledger.reserves.length, 2);
    const again = ledger.reserves[1];
    again.reply(null, booked(again.request, [outcome.exceedsLimit]));
    assert.equal(heard.all('refused'), [2]);
  },
);

test.run();
