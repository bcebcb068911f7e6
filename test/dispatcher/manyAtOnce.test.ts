import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { growth } from '../support/growth.ts';
import { diary, openLedger, openLine } from '../support/lines.ts';
import { scriptedLedger } from '../support/scriptedLedger.ts';
import { slowLedger } from '../support/slowLedger.ts';

const limits: [string, Limit][] = [
  ['sliding window', slidingWindow({ permits: 100, interval: 1000, resolution: 1 })],
  ['token bucket', tokenBucket({ permits: 100, interval: 1000 })],
];

/** A dispatcher that is one millisecond from its store. */
function open(limit: Limit) {
  const wire = slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 1, back: 1 });
  return { wire, line: openLine(limit, wire), heard: diary<number>() };
}

for (const [kind, limit] of limits)
  timed(`requests of one turn that may not wait need no call each to be refused: ${kind}`, (clock) => {
    const { wire, line, heard } = open(limit);
    const count = 10_000;
    for (let i = 0; i < count; i++) line.ask(heard, [1], 0, i);
    clock.tick(100);
    assert.is(heard.all('granted').length + heard.all('late').length, count);
    const granted = heard.all('granted').length;
    assert.ok(granted >= 100 && granted < 110, `${granted} granted`);
    const late = heard.all('late');
    assert.equal(
      late,
      [...late].sort((a, b) => a - b),
    );
    // Each call asks for at least a sixteenth of the window; a refusal then answers all requests behind it.
    assert.ok(wire.reserves.length <= 30, `${wire.reserves.length} calls`);
  });

timed('requests that expire in one turn cost the same however many there are', (clock) => {
  const ratio = growth([12_500, 100_000], (count) => {
    const line = openLine(limits[0][1], scriptedLedger(limits[0][1]));
    const heard = diary<number>();
    for (let i = 0; i < count; i++) line.ask(heard, [1], 50 + ((i * 7919) % 50), i);
    return () => {
      clock.tick(1_000);
      assert.is(heard.all('late').length, count);
    };
  });
  assert.ok(ratio < 24, `eight times as many took ${ratio.toFixed(1)} times as long`);
});

timed('decisions between requests of one turn cost the same however many there are', (clock) => {
  const limit = slidingWindow({ permits: 1_600, interval: 10, resolution: 1 });
  const ratio = growth([5_000, 40_000], (count) => {
    const { line, heard } = open(limit);
    let decided = 0;
    for (let i = 0; i < count; i++) {
      line.ask(heard, [1], Infinity, i);
      line.decide([1], () => decided++);
    }
    return () => {
      while (decided < count || heard.endings.length < count) clock.tick(10);
    };
  });
  assert.ok(ratio < 24, `eight times as many took ${ratio.toFixed(1)} times as long`);
});

test.run();
