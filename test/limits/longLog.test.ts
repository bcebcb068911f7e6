import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { slidingWindowAlgebra } from '../../src/limits/slidingWindow.ts';
import { algebraOf } from '../../src/limits/states.ts';

test('expired entries leave a log that never becomes empty', () => {
  const limit = slidingWindow({ permits: 100, interval: 100, resolution: 1 });
  const algebra = algebraOf(limit);
  const state = algebra.create(limit);
  for (let now = 0; now < 20_000; now++) {
    algebra.roll(state, now, 0);
    algebra.commit(state, now, now, 1);
  }
  assert.is(algebra.taken(state).permits, 100);
  const kept = JSON.stringify(state).length;
  // A hundred entries of two numbers, and as many that are not removed yet.
  assert.ok(kept < 10_000, `${kept} characters for 100 entries`);
});

test('an exact log of many entries gets new ones a thousandth of the interval apart, and stays within its limit', () => {
  const interval = 60_000;
  const limit = slidingWindow({ permits: 50_000, interval, resolution: 1 });
  const algebra = slidingWindowAlgebra;
  const state = algebra.create(limit);
  const granted = new Float64Array(3 * interval);
  let most = 0;
  for (let now = 1; now < granted.length; now++) {
    algebra.roll(state, now, 0);
    if (algebra.earliest(state, now, now, 1) > now) continue;
    algebra.commit(state, now, now, 1);
    granted[now] = 1;
    most = Math.max(most, (state.log.length - state.head) / 2);
  }
  let inWindow = 0;
  let total = 0;
  for (let now = 1; now < granted.length; now++) {
    inWindow += granted[now] - (granted[now - interval] ?? 0);
    total += granted[now];
    assert.ok(inWindow <= 50_000, `${inWindow} permits in the window that ends at ${now}`);
  }
  assert.ok(most > 2_048 && most <= 3_049, `${most} entries`);
  // Permits come back at most a thousandth of the interval later.
  assert.ok(total >= 3 * 50_000 - 300, `${total} permits`);
});

test('a log of many entries counts a grant in its last entry if that is of the same time', () => {
  const limit = slidingWindow({ permits: 50_000, interval: 60_000, resolution: 1 });
  const algebra = slidingWindowAlgebra;
  const state = algebra.create(limit);
  for (let now = 1; now <= 2_048; now++) algebra.commit(state, now, now, 1);
  algebra.commit(state, 2_048, 2_048, 1);
  algebra.roll(state, 2_048 + 60_000, 0);
  assert.is(algebra.taken(state).permits, 0);
});

test('one call removes at most 2048 void reservations from a log: the others stay', () => {
  const limit = slidingWindow({ permits: 1, interval: 1, resolution: 1 });
  const algebra = slidingWindowAlgebra;
  const state = algebra.create(limit);
  for (let t = 1; t <= 2_100; t++) algebra.commit(state, 0, t, 1);
  algebra.cut(state, 0, 1);
  assert.is(algebra.taken(state).permits, 2_100 - 2_048);
});

test.run();
