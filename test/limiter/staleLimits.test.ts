import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { monotonicClock } from '../../src/clock.ts';
import { PermitsExceedLimitError } from '../../src/errors.ts';
import { LedgerLine } from '../../src/limiter/ledgerLine.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { outcome } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const own = slidingWindow({ permits: 2, interval: 60_000 });
const stored = slidingWindow({ permits: 100, interval: 1000 });

/** A line whose ledger knows only its own limit, until a reply of the store reports the stored one. */
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
    reply(null, replyTo(request, delay));
  };
  return { ledger, line, recorded: recorder<number>(), answer };
}

timed('permits beyond the own limit are requested if another rate may be stored', (clock) => {
  const { ledger, line, recorded, answer } = open();
  line.ask(recorded, line.costOf(50), Infinity, 0);
  clock.tick(0);
  assert.is(ledger.reserves[0].request.runs[0].cost[0], 50);
  answer(0);
  assert.equal(recorded.all('granted'), [0]);
});

timed('no request is rejected for the wait of the own limit if another rate may be stored', (clock) => {
  const { ledger, line, recorded, answer } = open();
  // At 2 permits a minute, the first request alone would take 25 minutes, and the last one waits behind all others.
  line.ask(recorded, line.costOf(50), 500, 0);
  for (let i = 1; i < 9; i++) line.ask(recorded, line.costOf(1), Infinity, i);
  line.ask(recorded, line.costOf(1), 500, 9);
  clock.tick(0);
  assert.equal(recorded.endings, []);
  assert.is(ledger.reserves.length, 1);
  while (recorded.endings.length < 10) answer(0);
  assert.equal(recorded.all('granted'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

timed('permits beyond any limit are refused by the store, with the most that is allowed', (clock) => {
  const { line, recorded, answer } = open();
  line.ask(recorded, line.costOf(101), Infinity, 0);
  clock.tick(0);
  answer(outcome.exceedsLimit);
  const [ending] = recorded.endings;
  assert.ok(ending.what === 'failed' && ending.error instanceof PermitsExceedLimitError);
  assert.is((ending.error as PermitsExceedLimitError).limit, 100);
});

timed('a cached denial does not apply to permits beyond any limit: the store decides', (clock) => {
  const { ledger, line, recorded } = open();
  line.ask(recorded, line.costOf(1), 0, 0);
  clock.tick(100);
  const [{ request, reply }] = ledger.reserves;
  reply(null, replyTo(request, [], { segments: [{ count: 1, delay: outcome.refused, retryAfter: 5000 }] }));
  line.ask(recorded, line.costOf(2), 0, 1);
  assert.equal(recorded.all('denied'), [0, 1]);
  line.ask(recorded, line.costOf(3), 0, 2);
  clock.tick(0);
  assert.is(ledger.reserves.length, 2);
  const again = ledger.reserves[1];
  again.reply(null, replyTo(again.request, [outcome.exceedsLimit]));
  assert.equal(recorded.all('failed'), [2]);
});

test.run();
