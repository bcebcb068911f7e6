import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Refund } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { growth } from '../support/growth.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { scriptedLedger } from '../support/scriptedLedger.ts';
import { slowLedger } from '../support/slowLedger.ts';

const limits: [string, Limit][] = [
  ['sliding window', slidingWindow({ permits: 100, interval: 1000, resolution: 1 })],
  ['token bucket', tokenBucket({ permits: 100, interval: 1000 })],
];

/** A dispatcher that is one millisecond from its store. */
function open(limit: Limit) {
  const wire = slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 1, back: 1 });
  return { wire, line: openLine(limit, wire), recorded: recorder<number>() };
}

for (const [kind, limit] of limits)
  timed(`requests of one turn that may not wait are refused with few calls: ${kind}`, (clock) => {
    const { wire, line, recorded } = open(limit);
    const count = 10_000;
    for (let i = 0; i < count; i++) line.ask(recorded, [1], 0, i);
    clock.tick(100);
    assert.is(recorded.all('granted').length + recorded.all('denied').length, count);
    const granted = recorded.all('granted').length;
    assert.ok(granted >= 100 && granted < 110, `${granted} granted`);
    const late = recorded.all('denied');
    assert.equal(
      late,
      [...late].sort((a, b) => a - b),
    );
    // Each call requests at least a sixteenth of the window; a refusal then applies to all requests behind it.
    assert.ok(wire.reserves.length <= 30, `${wire.reserves.length} calls`);
  });

timed('requests that expire in one turn cost the same however many there are', (clock) => {
  const ratio = growth([6_250, 50_000], (count) => {
    const line = openLine(limits[0][1], scriptedLedger(limits[0][1]));
    const recorded = recorder<number>();
    for (let i = 0; i < count; i++) line.ask(recorded, [1], 50 + ((i * 7919) % 50), i);
    return () => {
      clock.tick(1_000);
      assert.is(recorded.all('denied').length, count);
    };
  });
  // Of the many, garbage is collected meanwhile, which may take twice as long as the rest. If each step took as many, it would be
  // 64.
  assert.ok(ratio < 40, `eight times as many took ${ratio.toFixed(1)} times as long`);
});

timed('calls that fail quickly cost the same however many requests wait behind them', (clock) => {
  const ratio = growth([4_000, 32_000], (count) => {
    const ledger = scriptedLedger(limits[0][1]);
    const line = openLine(limits[0][1], ledger);
    const recorded = recorder<number>();
    // Requests of different waits do not share a `Request`.
    for (let i = 0; i < count; i++) line.ask(recorded, [1], 1_000_000 + i, i);
    return () => {
      for (let calls = 0; recorded.endings.length < count; calls++) {
        assert.ok(calls < count / 4, `${calls} calls failed only ${recorded.endings.length} requests`);
        // Within the time that a store is given to reply.
        clock.tick(50);
        ledger.reserves.at(-1)!.reply(new Error('out of memory'));
      }
    };
  });
  assert.ok(ratio < 24, `eight times as many took ${ratio.toFixed(1)} times as long`);
});

timed(
  'a full queue of prefetching waiters refuses others at the same cost however many there are',
  (clock) => {
    const ratio = growth([1_000, 8_000], (count) => {
      const line = openLine(limits[0][1], openLedger(memoryStore(), limits[0][1], 'one'), count);
      const recorded = recorder<number>();
      for (let i = 0; i < 100; i++) line.ask(recorded, [1], Infinity, i);
      for (let i = 0; i < count; i++) line.count({ ...recorder<undefined>(), prefetches: true }, [1]);
      clock.tick(1);
      return () => {
        for (let i = 0; i < count; i++) line.ask(recorded, [1], Infinity, i);
        clock.tick(1);
        assert.is(recorded.all('failed').length, count);
      };
    });
    assert.ok(ratio < 24, `eight times as many took ${ratio.toFixed(1)} times as long`);
  },
);

timed('decisions between requests of one turn cost the same however many there are', (clock) => {
  const limit = slidingWindow({ permits: 1_600, interval: 10, resolution: 1 });
  const ratio = growth([2_500, 20_000], (count) => {
    const { line, recorded } = open(limit);
    let decided = 0;
    for (let i = 0; i < count; i++) {
      line.ask(recorded, [1], Infinity, i);
      line.decide([1], () => decided++);
    }
    return () => {
      while (decided < count || recorded.endings.length < count) clock.tick(10);
    };
  });
  assert.ok(ratio < 24, `eight times as many took ${ratio.toFixed(1)} times as long`);
});

timed('a refund costs the same however many clients of a store have refunded', () => {
  const ratio = growth([2_000, 16_000], (count) => {
    const limit = slidingWindow({ permits: count, interval: 60_000 });
    const store = memoryStore();
    const ledgers = Array.from({ length: count }, (_, i) => openLedger(store, limit, `client ${i}`));
    const refunds: Refund[] = [];
    ledgers[0].reserve(
      { runs: [{ count, cost: [1], maxWait: 0 }], horizon: 20, held: 0, epoch: 0 },
      (_, reply) => {
        const { now, epoch } = reply!;
        refunds.push({ moment: Math.ceil(now), epoch, source: 'memory', cost: [1], count: 1 });
      },
    );
    return () => {
      for (const ledger of ledgers) ledger.refund(refunds, 1, () => {});
      ledgers[0].peek((_, available) => assert.equal(available, [count]));
    };
  });
  assert.ok(ratio < 24, `eight times as many took ${ratio.toFixed(1)} times as long`);
});

test.run();
