import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Dispatcher } from '../../src/dispatcher/dispatcher.ts';
import { QueueOverflowError } from '../../src/errors.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { type Diary, diary, openLedger, openLine } from '../support/lines.ts';
import { booked, scriptedLedger } from '../support/scriptedLedger.ts';
import { slowLedger } from '../support/slowLedger.ts';

const limit = slidingWindow({ permits: 10, interval: 1000, resolution: 1 });
const near = () => openLedger(memoryStore(), limit, 'one');
const ledgers = [
  ['the store in this process', near],
  ['a store over a wire', () => slowLedger(near(), { there: 1, back: 1 })],
] as const;

const ask = (line: Dispatcher, heard: Diary<number>, count: number) => {
  for (let i = 0; i < count; i++) line.ask(heard, [1], Infinity, i);
};

for (const [where, ledger] of ledgers) {
  timed(`whoever asks inside a grant is not one too many while permits are free: ${where}`, (clock) => {
    const line = openLine(limit, ledger(), 1);
    const heard = diary<number>();
    const again: Diary<number> = {
      ...heard,
      granted: (grant, data) => {
        heard.granted(grant, data);
        if (data < 9) line.ask(again, [1], Infinity, data + 1);
      },
    };
    line.ask(again, [1], Infinity, 0);
    clock.tick(100);
    assert.equal(heard.all('granted'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  timed(`those beyond maxQueue that turn out to have to wait are refused, the newest: ${where}`, (clock) => {
    const line = openLine(limit, ledger(), 3);
    const heard = diary<number>();
    ask(line, heard, 20);
    clock.tick(100);
    assert.equal(heard.all('granted'), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(
      heard.all('refused').sort((a, b) => a - b),
      [13, 14, 15, 16, 17, 18, 19],
    );
    assert.ok(
      heard.endings.every((end) => end.what !== 'refused' || end.error instanceof QueueOverflowError),
    );
    clock.tick(5000);
    assert.equal(heard.all('granted').slice(10), [10, 11, 12]);
    const free: number[] = [];
    line.peek((_, available) => free.push(available![0]));
    clock.tick(10);
    assert.equal(free, [10]);
  });
}

timed('while the store does not answer, those it has not answered count after a while', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger, 5);
  const heard = diary<number>();
  ask(line, heard, 8);
  clock.tick(100);
  ask(line, heard, 1);
  assert.equal(heard.all('refused'), []);
  clock.tick(1);
  ask(line, heard, 1);
  assert.is(heard.all('refused').length, 1);
});

timed('a count of which a part is one too many loses that part', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger, 2);
  const heard = diary<undefined>();
  for (let i = 0; i < 6; i++) line.count(heard, [1]);
  clock.tick(1);
  const { request, reply } = ledger.reserves[0];
  reply(null, booked(request, [50]));
  assert.is(heard.all('refused').length, 4);
  clock.tick(1);
  assert.is(line.stats.queued + line.stats.reserved, 2);
});

timed('what is asked ahead gives way to others, newest first, but for the first of each waiter', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger, 3);
  const ahead = { ...diary<undefined>(), prefetches: true };
  const others = diary<number>();
  for (let i = 0; i < 3; i++) line.count(ahead, [1]);
  clock.tick(1);
  const { request, reply } = ledger.reserves[0];
  reply(null, booked(request, [50, 60, 70]));
  ask(line, others, 4);
  clock.tick(1);
  assert.is(ahead.all('refused').length, 2);
  assert.equal(others.all('refused'), [2, 3]);
  line.count(ahead, [1]);
  clock.tick(1);
  assert.is(ahead.all('refused').length, 3);
  assert.equal(others.all('refused'), [2, 3]);
});

timed('whoever has left hears no more of what it had asked ahead', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger, 2);
  const ahead = { ...diary<undefined>(), prefetches: true };
  for (let i = 0; i < 2; i++) line.count(ahead, [1]);
  clock.tick(1);
  const { request, reply } = ledger.reserves[0];
  reply(null, booked(request, [50, 60]));
  ask(line, diary<number>(), 1);
  line.cancelAll(ahead);
  clock.tick(1);
  assert.equal(ahead.endings, []);
});

test.run();
