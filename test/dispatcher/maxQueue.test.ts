import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { QueueOverflowError } from '../../src/errors.ts';
import type { LedgerLine } from '../../src/limiter/ledgerLine.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, type Recorder, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';
import { slowLedger } from '../support/slowLedger.ts';

const limit = slidingWindow({ permits: 10, interval: 1000, resolution: 1 });
const near = () => openLedger(memoryStore(), limit, 'one');
const ledgers = [
  ['the store in this process', near],
  ['a store over a wire', () => slowLedger(near(), { there: 1, back: 1 })],
] as const;

const ask = (line: LedgerLine<number>, recorded: Recorder<number>, count: number) => {
  for (let i = 0; i < count; i++) line.ask(recorded, [1], Infinity, i);
};

for (const [where, ledger] of ledgers) {
  timed(
    `a request from within a grant does not overflow the queue while permits are free: ${where}`,
    (clock) => {
      const line = openLine(limit, ledger(), 1);
      const recorded = recorder<number>();
      const again: Recorder<number> = {
        ...recorded,
        granted: (grant, data) => {
          recorded.granted(grant, data);
          if (data < 9) line.ask(again, [1], Infinity, data + 1);
        },
      };
      line.ask(again, [1], Infinity, 0);
      clock.tick(100);
      assert.equal(recorded.all('granted'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    },
  );

  timed(`the newest requests beyond maxQueue fail once they are known to have to wait: ${where}`, (clock) => {
    const line = openLine(limit, ledger(), 3);
    const recorded = recorder<number>();
    ask(line, recorded, 20);
    clock.tick(100);
    assert.equal(recorded.all('granted'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(
      recorded.all('failed').sort((a, b) => a - b),
      [13, 14, 15, 16, 17, 18, 19],
    );
    assert.ok(
      recorded.endings.every((end) => end.what !== 'failed' || end.error instanceof QueueOverflowError),
    );
    clock.tick(5000);
    assert.equal(recorded.all('granted').slice(10), [10, 11, 12]);
    const free: number[] = [];
    line.peek((_, available) => free.push(available![0]));
    clock.tick(10);
    assert.equal(free, [10]);
  });
}

timed('requests count for maxQueue once the store is overdue', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger, 5);
  const recorded = recorder<number>();
  ask(line, recorded, 8);
  clock.tick(100);
  ask(line, recorded, 1);
  assert.equal(recorded.all('failed'), []);
  clock.tick(1);
  ask(line, recorded, 1);
  assert.is(recorded.all('failed').length, 1);
});

timed('a counted request loses its part beyond maxQueue', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger, 2);
  const recorded = recorder<undefined>();
  for (let i = 0; i < 6; i++) line.count(recorded, [1]);
  clock.tick(1);
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [50]));
  assert.is(recorded.all('failed').length, 4);
  clock.tick(1);
  assert.is(line.stats.queued + line.stats.reserved, 2);
});

timed(
  'prefetched requests make room for others, the newest first, except the first of each waiter',
  (clock) => {
    const ledger = scriptedLedger(limit);
    const line = openLine(limit, ledger, 3);
    const ahead = { ...recorder<undefined>(), prefetches: true };
    const others = recorder<number>();
    for (let i = 0; i < 3; i++) line.count(ahead, [1]);
    clock.tick(1);
    const { request, reply } = ledger.reserves[0];
    reply(null, replyTo(request, [50, 60, 70]));
    ask(line, others, 4);
    clock.tick(1);
    assert.is(ahead.all('failed').length, 2);
    assert.equal(others.all('failed'), [2, 3]);
    line.count(ahead, [1]);
    clock.tick(1);
    assert.is(ahead.all('failed').length, 3);
    assert.equal(others.all('failed'), [2, 3]);
  },
);

timed(
  'a prefetched request that made room fails at once, even for a request that cannot be in time',
  (clock) => {
    const line = openLine(limit, near(), 3);
    const ahead = { ...recorder<undefined>(), prefetches: true };
    const others = recorder<number>();
    ask(line, others, 10);
    for (let i = 0; i < 3; i++) line.count(ahead, [1]);
    clock.tick(1);
    line.ask(others, [1], 5, 10);
    clock.tick(0);
    assert.equal(others.all('denied'), [10]);
    assert.is(ahead.all('failed').length, 1);
  },
);

timed('a waiter that has cancelled gets no callbacks of its prefetched requests', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger, 2);
  const ahead = { ...recorder<undefined>(), prefetches: true };
  for (let i = 0; i < 2; i++) line.count(ahead, [1]);
  clock.tick(1);
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [50, 60]));
  ask(line, recorder<number>(), 1);
  line.cancelAll(ahead);
  clock.tick(1);
  assert.equal(ahead.endings, []);
});

timed('a request whose reservation is due makes room for another one before it is granted', (clock) => {
  const wide = slidingWindow({ permits: 1000, interval: 1000 });
  const ledger = scriptedLedger(wide);
  const line = openLine(wide, ledger, 2);
  const recorded = recorder<number>();
  // At the same millisecond as the first grant, and before it.
  setTimeout(() => line.ask(recorded, [1], Infinity, 2), 50);
  ask(line, recorded, 2);
  clock.tick(0);
  const { request, reply } = ledger.reserves[0];
  const segments = [50, 60].map((delay) => ({ count: 1, delay, retryAfter: 0 }));
  reply(null, replyTo(request, [], { segments }));
  clock.tick(50);
  assert.equal([recorded.all('granted'), recorded.all('failed')], [[0], []]);
});

timed(
  'a due reservation that a pause may delay leaves its place in a full queue, and the passes end',
  (clock) => {
    const ledger = scriptedLedger(limit);
    const line = openLine(limit, ledger, 1);
    const recorded = recorder<number>();
    ask(line, recorded, 1);
    clock.tick(0);
    const [{ request, reply }] = ledger.reserves;
    reply(null, replyTo(request, [50]));
    line.dispatcher.changes.pause(
      () => undefined,
      () => undefined,
    );
    clock.tick(60);
    ask(line, recorded, 1);
    clock.tick(10);
    assert.equal(recorded.endings, []);
  },
);

timed(
  'a waiter that prefetches gets the place of a prefetched request for its first request only',
  (clock) => {
    const line = openLine(limit, near(), 3);
    const eager = { ...recorder<number>(), prefetches: true };
    const other = { ...recorder<number>(), prefetches: true };
    ask(line, recorder(), 10);
    ask(line, eager, 3);
    ask(line, other, 2);
    clock.tick(1);
    assert.equal(eager.all('failed'), [2]);
    assert.equal(other.all('failed'), [1]);
  },
);

test.run();
