import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
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

test.run();
