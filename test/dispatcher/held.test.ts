import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimiterClosedError } from '../../src/errors.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A queue whose requests have these timeouts and reservations at 300 ms, and then a pause of a second. */
function hold(clock: { tick(ms: number): unknown }, timeouts: readonly number[]) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  const requests = timeouts.map((timeout, i) => line.ask(recorded, [1], timeout, i));
  clock.tick(0);
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, 300));
  clock.tick(100);
  line.dispatcher.changes.pause(
    (done) => done(null, 1000),
    () => {},
  );
  clock.tick(0);
  const ends = () => recorded.endings.map(({ data, what, at }) => [data, what, at]);
  return { ledger, line, recorded, requests, ends };
}

timed('a request that expires during a pause before its reply is denied at its deadline', (clock) => {
  const { ledger, ends } = hold(clock, [Infinity, 400, 350, 5000]);
  assert.equal(
    ledger.reserves[1].request.runs.map(({ count, maxWait }) => [count, maxWait]),
    [
      [1, Infinity],
      [1, 300],
      [1, 250],
      [1, 4900],
    ],
  );
  clock.tick(900);
  assert.equal(ends(), [
    [2, 'denied', 350],
    [1, 'denied', 400],
  ]);
  const { request, reply } = ledger.reserves[1];
  reply(null, replyTo(request, [100, 100, 100, 100]));
  clock.tick(100);
  assert.equal(ends().slice(2), [
    [0, 'granted', 1100],
    [3, 'granted', 1100],
  ]);
  // The reservations of denied requests are refunded.
  ledger.refunds[0].reply(null);
  assert.equal(
    ledger.refunds[1].refunds.map(({ count, moment }) => [count, moment - 1_700_000_000_000]),
    [[2, 1100]],
  );
});

timed('a request that is cancelled during a pause is not sent again', (clock) => {
  const { ledger, line, requests, ends } = hold(clock, [Infinity, Infinity, Infinity]);
  line.cancel(requests[0]);
  const { request, reply } = ledger.reserves[1];
  assert.equal(
    request.runs.map(({ count }) => count),
    [3],
  );
  reply(null, replyTo(request, [1000]));
  line.cancel(requests[2]);
  clock.tick(1000);
  assert.equal(ends(), [[1, 'granted', 1100]]);
  const given = ledger.refunds.flatMap(({ refunds }) => refunds);
  assert.equal(
    given.map(({ count, moment }) => [count, moment - 1_700_000_000_000]),
    [[3, 300]],
    'one reserve call at a time',
  );
  ledger.refunds[0].reply(null);
  assert.equal(
    ledger.refunds[1].refunds.map(({ count, moment }) => [count, moment - 1_700_000_000_000]),
    [[2, 1100]],
  );
  assert.is(clock.countTimers(), 0);
});

timed('cancelling all requests of a waiter during a pause leaves nothing', (clock) => {
  const { ledger, line, recorded } = hold(clock, [Infinity, 400, Infinity]);
  line.cancelAll(recorded);
  const { request, reply } = ledger.reserves[1];
  reply(null, replyTo(request, 1000));
  clock.tick(5000);
  assert.equal(recorded.endings, []);
  assert.is(clock.countTimers(), 0);
  assert.is(line.stats.reserved + line.stats.queued, 0);
});

timed('closing during a pause fails all requests, and leaves no timer', async (clock) => {
  const { ledger, line, recorded } = hold(clock, [Infinity, 4000, 5000]);
  const { request, reply } = ledger.reserves[1];
  reply(null, replyTo(request, 1000));
  const closed = line.close();
  assert.is(recorded.endings.length, 3);
  for (const ending of recorded.endings)
    assert.instance(ending.what === 'failed' && ending.error, LimiterClosedError);
  for (let call = 0; call < ledger.refunds.length; call++) ledger.refunds[call].reply(null);
  await closed;
  assert.is(clock.countTimers(), 0);
  assert.is(ledger.reserves.length, 2);
});

timed('closing while a pause is in flight fails all requests, and leaves no timer', async (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  line.ask(recorded, [1], Infinity, 0);
  clock.tick(0);
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [300]));
  const replies: ((ms: number) => void)[] = [];
  line.dispatcher.changes.pause(
    (done) => replies.push((ms) => done(null, ms)),
    () => {},
  );
  const closed = line.close();
  assert.is(recorded.endings.length, 1);
  ledger.refunds[0].reply(null);
  replies[0](5000);
  await closed;
  clock.tick(10_000);
  assert.is(clock.countTimers(), 0);
  assert.is(ledger.reserves.length, 1);
});

test.run();
