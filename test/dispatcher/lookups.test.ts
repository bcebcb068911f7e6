import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Lookups } from '../../src/dispatcher/lookups.ts';
import { Queue } from '../../src/dispatcher/queue.ts';
import { LimiterClosedError } from '../../src/errors.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { DecideReply } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { growth } from '../support/growth.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

/** A dispatcher one millisecond from its store, and the results of its decisions. */
function open(permits: number) {
  const limit = slidingWindow({ permits, interval: 1000 });
  const line = openLine(limit, slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 1, back: 1 }));
  const results: (boolean | Error)[] = [];
  const decide = () =>
    line.decide([1], (error, reply) => results.push(error ?? (reply as DecideReply).granted));
  return { line, results, decide, recorded: recorder<string>() };
}

timed('a decision is not overtaken by later requests', (clock) => {
  const { line, results, decide, recorded } = open(1);
  decide();
  line.ask(recorded, [1], 0, 'after');
  clock.tick(20);
  assert.equal([results, recorded.all('denied')], [[true], ['after']]);
});

timed('a decision is not overtaken by later counted requests', (clock) => {
  const { line, results, decide, recorded } = open(2);
  line.count(recorded as never, [1]);
  decide();
  for (let i = 0; i < 5; i++) line.count(recorded as never, [1]);
  clock.tick(20);
  assert.equal(results, [true]);
});

timed('a decision does not overtake a request whose followers have ended', (clock) => {
  const { line, results, decide, recorded } = open(2);
  line.ask(recorded, [1], Infinity, 'under way');
  clock.tick(1);
  line.ask(recorded, [1], Infinity, 'waits');
  const last = line.ask(recorded, [1], Infinity, 'cancelled');
  decide();
  line.cancel(last);
  clock.tick(20);
  assert.equal([recorded.all('granted'), results], [['under way', 'waits'], [false]]);
});

timed('a decision is sent however many requests follow', (clock) => {
  const { line, results, decide, recorded } = open(1_000_000);
  line.ask(recorded, [1], Infinity, 'before');
  clock.tick(1);
  decide();
  for (let i = 0; i < 50 && results.length === 0; i++) {
    line.ask(recorded, [1], Infinity, 'after');
    clock.tick(1);
  }
  assert.equal(results, [true]);
});

timed('closing fails a decision that has not been sent', async (clock) => {
  const { line, results, decide, recorded } = open(5);
  line.ask(recorded, [1], Infinity, 'under way');
  clock.tick(1);
  line.ask(recorded, [1], Infinity, 'waits');
  decide();
  const closed = line.close();
  clock.tick(20);
  await closed;
  assert.is(results.length, 1);
  assert.instance(results[0], LimiterClosedError);
});

timed('closing waits for a decision in flight', async (clock) => {
  const { line, results, decide } = open(5);
  decide();
  clock.tick(1);
  const closed = line.close().then(() => results.push(new Error('closed')));
  await clock.tickAsync(20);
  await closed;
  assert.equal(results.map(String), ['true', 'Error: closed']);
});

timed('decisions of one turn cost the same however many there are', () => {
  const ratio = growth([20_000, 160_000], (count) => {
    const lookups = new Lookups();
    let sent = 0;
    const send = () => sent++;
    for (let i = 0; i < count; i++) lookups.add({ send, fail: () => undefined, behind: 0 });
    return () => {
      lookups.send(new Queue(1), false);
      assert.is(sent, count);
    };
  });
  assert.ok(ratio < 24, `eight times as many took ${ratio.toFixed(1)} times as long`);
});

test.run();
