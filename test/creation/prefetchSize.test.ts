import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PrefetchSize } from '../../src/creation/prefetchSize.ts';

const test = suite('the number of prefetched permits');

/** The size after a number of values, each with this wait for the last of its permits. */
function after(values: number, waited: number, ahead = new PrefetchSize()): PrefetchSize {
  for (let i = 0; i < values; i++) ahead.used(waited, ahead.count);
  return ahead;
}

test('it grows by one with every value that waits for the round trip only, to 1024 at most', () => {
  assert.is(new PrefetchSize().count, 1);
  assert.is(after(1, 5).count, 2);
  assert.is(after(99, 5).count, 100);
  assert.is(after(5_000, 5).count, 1024);
  assert.is(after(10, 0).count, 11);
});

/** The mean size at the end, if a permit is granted every `every` milliseconds. */
function settled(every: number, trip: number, maxAge = Infinity): number {
  const ahead = new PrefetchSize();
  let sum = 0;
  const line: { at: number; place: number }[] = [];
  let now = 0;
  for (let n = 0; n < 4_000; n++) {
    while (line.length < ahead.count) line.push({ at: now, place: line.length + 1 });
    const { at, place } = line.shift()!;
    now = Math.max(n > 0 ? now + every : 0, at + trip);
    ahead.used(now - at, place, maxAge);
    if (n >= 2_000) sum += ahead.count;
  }
  return sum / 2_000;
}

test('if the limit delays permits, it is as many as are granted in 40 ms or 8 round trips', () => {
  assert.ok(Math.abs(settled(1, 1) - 40) <= 3, `${settled(1, 1)}`);
  assert.ok(Math.abs(settled(1, 20) - 160) <= 10, `${settled(1, 20)}`);
  assert.is(settled(20, 5), 2);
});

test('it is at most what lasts for a round trip and half of maxAge', () => {
  assert.ok(Math.abs(settled(1, 20, 50) - 45) <= 3, `${settled(1, 20, 50)}`);
  assert.ok(Math.abs(settled(1, 1, 10) - 6) <= 1, `${settled(1, 1, 10)}`);
});

test('it is 1 if a permit takes longer than that', () => {
  const ahead = after(20, 5);
  assert.is(after(1, 900, ahead).count, 1);
  assert.is(settled(100, 5), 1);
  assert.is(after(50, 900).count, 1);
});

test('after restart() it is 1, and grows again', () => {
  const ahead = after(50, 5);
  ahead.restart();
  assert.is(ahead.count, 1);
  assert.is(after(2, 5, ahead).count, 3);
});

test("after an overflow it is half of the queue's room", () => {
  const ahead = after(20, 5);
  ahead.overflowed(9);
  assert.is(ahead.count, 4);
  assert.is(after(20, 5, ahead).count, 4);
  ahead.overflowed(1);
  assert.is(ahead.count, 1);
});

test('after an overflow it grows again in time', () => {
  const ahead = new PrefetchSize();
  ahead.overflowed(4);
  for (let i = 0; i < 10_000; i++) ahead.used(5, ahead.count);
  assert.ok(ahead.count > 4, `${ahead.count}`);
});

test.run();
