import type { SinonFakeTimers } from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import type { Grant } from '../../src/port/line.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { scriptedLedger } from '../support/scriptedLedger.ts';
import { slowLedger } from '../support/slowLedger.ts';

const limit = slidingWindow({ permits: 100_000, interval: 1000 });

/** A client `trip` milliseconds from its store, which has measured that with a refund, or with its first requests only. */
function distant(clock: SinonFakeTimers, trip: number, hasRefunded = true) {
  const wire = slowLedger(openLedger(memoryStore(), limit, 'one'), { there: trip / 2, back: trip / 2 });
  const line = openLine(limit, wire);
  const recorded = recorder<number>();
  for (let i = 0; i < 1000; i++) line.ask(recorded, [1], Infinity, i);
  clock.tick(trip);
  const grants = recorded.endings.flatMap((end) => (end.what === 'granted' ? [end.grant] : []));
  assert.is(grants.length, 1000);
  if (hasRefunded) line.dispatcher.refund(grants.pop()!);
  clock.tick(trip + 1);
  return { wire, line, grants };
}

/** Refunds 15 permits in each of so many milliseconds, and returns the times until the store has replied, in order. */
function settleTimes(clock: SinonFakeTimers, line: ReturnType<typeof openLine>, grant: Grant, ms: number) {
  const times: number[] = [];
  for (let i = 0; i < ms; i++) {
    const at = clock.now;
    for (let n = 0; n < 15; n++) line.dispatcher.refund(grant, () => times.push(clock.now - at));
    clock.tick(1);
  }
  clock.tick(1000);
  assert.is(times.length, 15 * ms);
  return times.sort((a, b) => a - b);
}

timed(
  'of 15,000 refunds a second over a long round trip, none waits for the replies to those before',
  (clock) => {
    const trip = 40;
    const { wire, line, grants } = distant(clock, trip);
    const times = settleTimes(clock, line, grants[0], 2000);
    assert.ok(times[times.length / 2] <= 1.1 * trip, `${times[times.length / 2]} ms in the middle`);
    assert.ok(times.at(-1)! <= 1.2 * trip, `${times.at(-1)} ms at most`);
    assert.ok(
      wire.most.refund > 4 && wire.most.refund <= wire.mostRefundCalls!,
      `${wire.most.refund} at once`,
    );
    assert.ok(wire.refunds.length <= (2000 / trip + 1) * 8, `${wire.refunds.length} calls`);
  },
);

timed('the first refunds over a long round trip do not wait for a reply either', (clock) => {
  const trip = 40;
  const { line, grants } = distant(clock, trip, false);
  const times = settleTimes(clock, line, grants[0], trip);
  assert.ok(times.at(-1)! <= 1.2 * trip, `${times.at(-1)} ms at most`);
});

timed('over a short round trip, refunds are sent one call at a time', (clock) => {
  const { wire, line, grants } = distant(clock, 4);
  const times = settleTimes(clock, line, grants[0], 200);
  assert.is(wire.most.refund, 1);
  assert.ok(times.at(-1)! <= 8);
});

/** A client of a store whose replies the test sends, after a refund that took 40 ms and one in each of so many milliseconds. */
function refunding(clock: SinonFakeTimers, mostRefundCalls: number, count: number) {
  const ledger = Object.assign(scriptedLedger(limit), { mostRefundCalls });
  const line = openLine(limit, ledger);
  const refund = () => line.dispatcher.refund({ cost: [1], due: 0, moment: 1, epoch: 1, source: 'redis' });
  refund();
  clock.tick(40);
  ledger.refunds.pop()!.reply(null);
  for (let i = 0; i < count; i++) {
    refund();
    clock.tick(1);
  }
  return { ledger, refund };
}

timed('no two refund calls in flight have sequence numbers with the same remainder', (clock) => {
  const { ledger, refund } = refunding(clock, 4, 100);
  const { refunds } = ledger;
  // The store does not reply, so no further call is sent.
  assert.is(refunds.length, 4);
  const remainders = () => refunds.map(({ sequence }) => sequence % 4);
  assert.is(new Set(remainders()).size, 4);
  refunds[2].reply(null);
  refund();
  clock.tick(10);
  assert.is(refunds.length, 5);
  assert.is(remainders()[4], remainders()[2]);
  assert.ok(refunds[4].sequence > refunds[3].sequence);
});

timed('the calls in flight follow each other at an even pace', (clock) => {
  const { ledger } = refunding(clock, 4, 9);
  assert.is(ledger.refunds.length, 1);
  // Without further refunds, a timer sends those that were collected.
  clock.tick(1);
  assert.equal(
    ledger.refunds.map(({ refunds }) => refunds[0].count),
    [1, 8],
  );
});

test.run();
