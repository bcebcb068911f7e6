import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimiterClosedError, StoreUnavailableError } from '../../src/errors.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

function open() {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const answer = (delays: number[]) => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    reply(null, replyTo(request, delays));
  };
  /** The refunds, as rows: count and cost. */
  const refunded = () =>
    ledger.refunds.flatMap(({ refunds }) => refunds.map(({ count, cost }) => [count, cost[0]]));
  return { ledger, line, answer, refunded, recorded: recorder<string>() };
}

timed('a grant whose request was cancelled is refunded from its own moment', (clock) => {
  const { ledger, line, answer, recorded } = open();
  const request = line.ask(recorded, [3], Infinity, 'cancelled');
  clock.tick(10);
  line.cancel(request);
  answer([50]);
  assert.equal(ledger.refunds[0].refunds, [
    { moment: Date.now() + 50, epoch: 1, source: 'memory', cost: [3], count: 1 },
  ]);
  clock.tick(1000);
  assert.is(recorded.endings.length, 0);
});

timed('a grant whose request was cancelled goes to the next request of the same cost', (clock) => {
  const { line, answer, refunded, recorded } = open();
  const request = line.ask(recorded, [1], Infinity, 'cancelled');
  clock.tick(10);
  line.ask(recorded, [1], Infinity, 'next');
  line.cancel(request);
  answer([0]);
  assert.equal(recorded.all('granted'), ['next']);
  assert.equal(refunded(), []);
});

timed('a grant whose request was cancelled does not pass a request of another cost', (clock) => {
  const { line, answer, refunded, recorded } = open();
  const request = line.ask(recorded, [1], Infinity, 'cancelled');
  clock.tick(10);
  line.ask(recorded, [2], Infinity, 'other');
  line.ask(recorded, [1], Infinity, 'behind');
  line.cancel(request);
  answer([0]);
  assert.equal(recorded.all('granted'), []);
  assert.equal(refunded(), [[1, 1]]);
});

timed('a request is denied at its deadline during its call, and its late grant is refunded', (clock) => {
  const { line, answer, refunded, recorded } = open();
  line.ask(recorded, [2], 100, 'denied');
  clock.tick(99);
  assert.is(recorded.endings.length, 0);
  clock.tick(1);
  assert.equal(
    recorded.endings.map(({ what, at }) => [what, at]),
    [['denied', 100]],
  );
  clock.tick(50);
  answer([0]);
  assert.equal(recorded.all('granted'), []);
  assert.equal(refunded(), [[1, 2]]);
});

timed(
  'a reservation that comes too late because of a slow call is refunded, and its request denied',
  (clock) => {
    const { line, answer, refunded, recorded } = open();
    line.ask(recorded, [1], Infinity, 'first');
    clock.tick(0);
    answer([0]);
    line.ask(recorded, [2], 100, 'denied');
    clock.tick(80);
    answer([60]);
    assert.equal(
      recorded.endings.map(({ what, at }) => [what, at]),
      [
        ['granted', 0],
        ['denied', 80],
      ],
    );
    assert.equal(refunded(), [[1, 2]]);
  },
);

timed('cancelling all requests of a waiter refunds their reservations, and keeps the others', (clock) => {
  const { line, answer, refunded, recorded } = open();
  const other = recorder<string>();
  line.ask(recorded, [1], Infinity, 'reserved');
  clock.tick(0);
  answer([40]);
  line.ask(recorded, [1], Infinity, 'gone');
  line.ask(other, [1], Infinity, 'stays');
  line.cancelAll(recorded);
  clock.tick(40);
  assert.equal(recorded.endings, []);
  assert.equal(other.all('granted'), ['stays']);
  assert.equal(refunded(), []);
});

timed('closing waits for the call in flight, and refunds its grants', async (clock) => {
  const { ledger, line, answer, refunded, recorded } = open();
  for (const name of ['a', 'b']) line.ask(recorded, [1], Infinity, name);
  clock.tick(10);
  let closed = false;
  const closing = line.close().then(() => {
    closed = true;
  });
  assert.equal(recorded.all('failed'), ['a', 'b']);
  assert.ok(
    recorded.endings.every((end) => end.what === 'failed' && end.error instanceof LimiterClosedError),
  );
  await clock.tickAsync(10);
  answer([0]);
  assert.equal(refunded(), [[2, 1]]);
  await clock.tickAsync(10);
  assert.is(closed, false);
  ledger.refunds[0].reply(null);
  await closing;
  assert.is(clock.countTimers(), 0);
});

for (const [took, title] of [
  [100, 'its own requests'],
  [101, 'all requests that waited when it was sent'],
] as const)
  timed(`a call that fails after ${took} ms fails ${title}`, (clock) => {
    const { ledger, line, recorded } = open();
    const names = Array.from({ length: 1500 }, (_, i) => `${i}`);
    for (const name of names) line.ask(recorded, [1], Infinity, name);
    clock.tick(took - 10);
    for (const name of ['late', 'later']) line.ask(recorded, [1], Infinity, name);
    clock.tick(10);
    const [{ request, reply }] = ledger.reserves;
    const sent = request.runs[0].count;
    assert.ok(sent < 1000, `${sent} requests`);
    reply(new StoreUnavailableError('n', new Error('no reply')));
    assert.equal(recorded.all('failed'), names.slice(0, took > 100 ? undefined : sent));
    // The others wait for the next call.
    assert.is(ledger.reserves.length, 2);
  });

timed('a call without queued requests that fails late fails none of those that wait', (clock) => {
  const slow = slidingWindow({ permits: 1, interval: 60_000 });
  const ledger = scriptedLedger(slow);
  const line = openLine(slow, ledger);
  const recorded = recorder<string>();
  for (const name of ['reserved', 'queued']) line.ask(recorded, [1], Infinity, name);
  clock.tick(0);
  // The other one stays queued.
  ledger.reserves[0].reply(null, replyTo(ledger.reserves[0].request, 60_000));
  const calls = ledger.reserves.length;
  clock.tick(2_000);
  assert.ok(ledger.reserves.length > calls, 'it calls while it has reservations');
  const { request, reply } = ledger.reserves.at(-1)!;
  assert.is(request.earlier, true);
  clock.tick(200);
  reply(new StoreUnavailableError('n', new Error('connection reset')));
  assert.equal(recorded.endings, []);
});

test.run();
