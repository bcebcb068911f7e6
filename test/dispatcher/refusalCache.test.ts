import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { diary, openLedger, openLine } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

/** The horizon of a line whose round trip is short: so long a denial is remembered at most. */
const horizon = 20;

/** A line one millisecond from its store, where all but `free` of 500 permits a second have just been taken. */
function open(clock: { tick(ms: number): unknown }, free: number, interval = 1000) {
  const limit = slidingWindow({ permits: 500, interval, resolution: 1 });
  const wire = slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 1, back: 1 });
  const line = openLine(limit, wire);
  const heard = diary<string>();
  line.ask(heard, [500 - free], Infinity, 'taken');
  clock.tick(2);
  const [taken] = heard.endings.splice(0);
  if (taken.what !== 'granted') throw new Error('expected a grant');
  /** Asks without waiting, and says how that ended. */
  const hurry = (cost: number) => {
    line.ask(heard, [cost], 0, 'hurried');
    clock.tick(2);
    return heard.endings.splice(0).map(({ what }) => what)[0];
  };
  return { wire, line, heard, hurry, grant: taken.grant };
}

timed('a denial is remembered for the horizon: nothing that is no smaller is asked for again', (clock) => {
  const { wire, hurry } = open(clock, 2);
  assert.is(hurry(3), 'late');
  const calls = wire.reserves.length;
  for (const cost of [3, 4, 500]) assert.is(hurry(cost), 'late');
  assert.is(wire.reserves.length, calls);
  assert.is(hurry(2), 'granted');
  assert.is(wire.reserves.length, calls + 1);
  clock.tick(horizon);
  assert.is(hurry(3), 'late');
  assert.is(wire.reserves.length, calls + 2);
});

timed('a denial is remembered no longer than until the permits are there', (clock) => {
  const { hurry } = open(clock, 0, 10);
  assert.is(hurry(1), 'late');
  // Taken at 1 ms, back at 11 ms, and known to be so from the receipt of the denial on, a millisecond after it was made.
  clock.tick(8);
  assert.is(hurry(1), 'granted');
});

timed('a denial is forgotten when a permit is given back', (clock) => {
  const { line, hurry, grant } = open(clock, 0);
  assert.is(hurry(1), 'late');
  line.refund({ ...grant, cost: [1] });
  clock.tick(2);
  assert.is(hurry(1), 'granted');
});

timed('a denial that was under way when a permit was given back is not remembered', (clock) => {
  const { line, heard, hurry, grant } = open(clock, 0);
  line.ask(heard, [1], 0, 'hurried');
  clock.tick(1);
  line.refund({ ...grant, cost: [1] });
  clock.tick(4);
  assert.equal(
    heard.endings.splice(0).map(({ what }) => what),
    ['late'],
  );
  assert.is(hurry(1), 'granted');
});

timed('a denial is forgotten when a booking is given back that stood in the way', (clock) => {
  const { line, heard, hurry } = open(clock, 10);
  const big = line.ask(heard, [15], Infinity, 'big');
  line.ask(heard, [1], 0, 'hurried');
  clock.tick(2);
  assert.equal(
    heard.endings.splice(0).map(({ data, what }) => [data, what]),
    [['hurried', 'late']],
  );
  line.cancel(big);
  clock.tick(2);
  assert.is(hurry(1), 'granted');
});

timed('a request that may wait is asked for whatever was denied', (clock) => {
  const { wire, line, heard, hurry } = open(clock, 0);
  assert.is(hurry(1), 'late');
  const calls = wire.reserves.length;
  line.ask(heard, [1], Infinity, 'patient');
  clock.tick(2);
  assert.is(wire.reserves.length, calls + 1);
  clock.tick(1000);
  assert.equal(heard.all('granted'), ['patient']);
});

test.run();
