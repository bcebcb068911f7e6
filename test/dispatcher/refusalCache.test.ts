import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

/** The horizon with a short round trip: the longest time for which a refusal is remembered. */
const horizon = 20;

/** A dispatcher one millisecond from its store, where all but `free` of 500 permits a second were just granted. */
function open(clock: { tick(ms: number): unknown }, free: number, interval = 1000) {
  const limit = slidingWindow({ permits: 500, interval, resolution: 1 });
  const wire = slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 1, back: 1 });
  const line = openLine(limit, wire);
  const recorded = recorder<string>();
  line.ask(recorded, [500 - free], Infinity, 'taken');
  clock.tick(2);
  const [taken] = recorded.endings.splice(0);
  if (taken.what !== 'granted') throw new Error('expected a grant');
  /** The result of a request that may not wait. */
  const hurry = (cost: number) => {
    line.ask(recorded, [cost], 0, 'hurried');
    clock.tick(2);
    return recorded.endings.splice(0).map(({ what }) => what)[0];
  };
  return { wire, line, recorded, hurry, grant: taken.grant };
}

timed('a refusal is remembered for the horizon: requests that are no smaller are not sent', (clock) => {
  const { wire, hurry } = open(clock, 2);
  assert.is(hurry(3), 'denied');
  const calls = wire.reserves.length;
  for (const cost of [3, 4, 500]) assert.is(hurry(cost), 'denied');
  assert.is(wire.reserves.length, calls);
  assert.is(hurry(2), 'granted');
  assert.is(wire.reserves.length, calls + 1);
  clock.tick(horizon);
  assert.is(hurry(3), 'denied');
  assert.is(wire.reserves.length, calls + 2);
});

timed('a remembered refusal reports the wait that is left', (clock) => {
  const { line, recorded, hurry } = open(clock, 0);
  assert.is(hurry(1), 'denied');
  const waits = [0, 5].map((elapsed) => {
    clock.tick(elapsed);
    line.ask(recorded, [1], 0, 'hurried');
    clock.tick(1);
    const [ending] = recorded.endings.splice(0);
    return ending.what === 'denied' && ending.retryAfter;
  });
  // Granted at 1 ms and free at 1001 ms; requested at 4 ms and 10 ms. Over a wire, the wait is a millisecond longer.
  assert.equal(waits, [998, 992]);
});

timed('a refusal is forgotten when the permits are available', (clock) => {
  const { hurry } = open(clock, 0, 10);
  assert.is(hurry(1), 'denied');
  // Granted at 1 ms and free at 11 ms, which is known from the receipt of the refusal on, a millisecond after it was made.
  clock.tick(8);
  assert.is(hurry(1), 'granted');
});

timed('a refusal is forgotten with a refund', (clock) => {
  const { line, hurry, grant } = open(clock, 0);
  assert.is(hurry(1), 'denied');
  line.refund({ ...grant, cost: [1] });
  clock.tick(2);
  assert.is(hurry(1), 'granted');
});

timed('a refusal in flight during a refund is not remembered', (clock) => {
  const { line, recorded, hurry, grant } = open(clock, 0);
  line.ask(recorded, [1], 0, 'hurried');
  clock.tick(1);
  line.refund({ ...grant, cost: [1] });
  clock.tick(4);
  assert.equal(
    recorded.endings.splice(0).map(({ what }) => what),
    ['denied'],
  );
  assert.is(hurry(1), 'granted');
});

timed('a refusal is forgotten when a reservation is refunded', (clock) => {
  const { line, recorded, hurry } = open(clock, 10);
  const big = line.ask(recorded, [15], Infinity, 'big');
  line.ask(recorded, [1], 0, 'hurried');
  clock.tick(2);
  assert.equal(
    recorded.endings.splice(0).map(({ data, what }) => [data, what]),
    [['hurried', 'denied']],
  );
  line.cancel(big);
  clock.tick(2);
  assert.is(hurry(1), 'granted');
});

timed('a request that may wait is sent whatever was refused', (clock) => {
  const { wire, line, recorded, hurry } = open(clock, 0);
  assert.is(hurry(1), 'denied');
  const calls = wire.reserves.length;
  line.ask(recorded, [1], Infinity, 'patient');
  clock.tick(2);
  assert.is(wire.reserves.length, calls + 1);
  clock.tick(1000);
  assert.equal(recorded.all('granted'), ['patient']);
});

timed('a refusal of a request that may wait is not remembered', (clock) => {
  const { wire, line, recorded, hurry } = open(clock, 0);
  line.ask(recorded, [1], 10, 'patient');
  clock.tick(2);
  assert.equal(recorded.endings.splice(0)[0].what, 'denied');
  const calls = wire.reserves.length;
  assert.is(hurry(1), 'denied');
  assert.is(wire.reserves.length, calls + 1);
});

test.run();
