// Counted requests of which a part leaves, or that join late, end as single ones do.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { outcome } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });
const noWork = () => undefined;

/** A line whose first request was granted, so that the limits are known. */
function open(isCounted: boolean, clock: { tick(ms: number): void }, maxQueue = Infinity) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger, maxQueue);
  const recorded = recorder<string>();
  const ask = (timeout: number, data: string) =>
    isCounted ? line.count(recorded, [1], data, timeout) : line.ask(recorded, [1], timeout, data);
  const askMany = (count: number, timeout: number, name: string) => {
    for (let i = 0; i < count; i++) ask(timeout, `${name}${i}`);
  };
  const answer = (delay: number, retryAfter?: number) => {
    const { request, reply } = ledger.reserves.at(-1)!;
    reply(null, { ...replyTo(request, delay, { contenders: 2 }), ...(retryAfter && { retryAfter }) });
  };
  ask(100, 'first');
  clock.tick(1);
  answer(0);
  clock.tick(1);
  const ends = () => recorded.endings.map(({ data, what, at }) => [data, what, at]).slice(1);
  return { ledger, line, recorded, ask, askMany, answer, ends };
}

for (const isCounted of [true, false]) {
  const kind = isCounted ? 'counted' : 'single';

  timed(`after an overflow of ${kind} requests, the others wait as the store has told`, (clock) => {
    const { ledger, line, askMany, answer, ends } = open(isCounted, clock, 5);
    askMany(10, 5000, 'a');
    clock.tick(1);
    answer(outcome.queued, 500);
    clock.tick(100);
    assert.is(ledger.reserves.length, 2);
    assert.ok(line.waits);
    askMany(4, 5000, 'b');
    clock.tick(1);
    assert.is(line.stats.queued, 5);
    const failed = (name: string, from: number, to: number, at: number) =>
      Array.from({ length: to - from }, (_, i) => [`${name}${from + i}`, 'failed', at]);
    assert.equal(ends().sort(), [...failed('a', 5, 10, 3), ...failed('b', 0, 4, 103)]);
  });

  timed(`${kind} requests that join during a call do not fail with it`, (clock) => {
    const { ledger, askMany, ends } = open(isCounted, clock);
    askMany(400, 5000, 'a');
    clock.tick(50);
    askMany(3, 4950, 'b');
    clock.tick(500);
    ledger.reserves.at(-1)!.reply(new Error('down'));
    clock.tick(1);
    assert.is(ends().length, 400);
    assert.ok(ends().every(([data, what]) => what === 'failed' && String(data).startsWith('a')));
  });

  timed(`a ${kind} request that joins during a pause expires at its deadline`, (clock) => {
    const { line, ask, ends } = open(isCounted, clock);
    line.count(recorder<undefined>(), [1]);
    clock.tick(8);
    // Its first reply may come until 110.
    ask(60, 'a');
    clock.tick(10);
    line.dispatcher.changes.pause(noWork, noWork);
    ask(50, 'b');
    clock.tick(200);
    assert.equal(ends(), [
      ['b', 'denied', 70],
      ['a', 'denied', 110],
    ]);
  });
}

test.run();
