import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { slidingWindowAlgebra as algebra } from '../../src/limits/slidingWindow.ts';
import { algebraOf } from '../../src/limits/states.ts';

const start = 1_000_000;

test('a refund finds the entry of its moment under another resolution, and takes nothing of a later one', () => {
  const state = algebra.create(slidingWindow({ permits: 10, interval: 1000, resolution: 100 }));
  algebra.roll(state, start, 0);
  algebra.commit(state, start, start + 1, 4);
  algebra.adopt(state, slidingWindow({ permits: 10, interval: 1000, resolution: 1 }), 0);
  algebra.roll(state, start + 150, 0);
  algebra.commit(state, start + 150, start + 150, 3);
  assert.is(algebra.refund(state, start + 150, start + 1, 2), 2);
  assert.is(algebra.available(state, start + 150, start + 150), 5);
  // Nothing was granted at that moment, and the next entry belongs to another one.
  assert.is(algebra.refund(state, start + 150, start + 40, 5), 2);
  assert.is(algebra.refund(state, start + 1050, start - 60, 5), 0);
});

test('grants forgotten under a shorter interval are not refunded under a longer one', () => {
  const state = algebra.create(slidingWindow({ permits: 10, interval: 100, resolution: 100 }));
  algebra.roll(state, start - 90, 0);
  algebra.commit(state, start - 90, start - 90, 4);
  algebra.adopt(state, slidingWindow({ permits: 10, interval: 100, resolution: 1 }), 0);
  algebra.commit(state, start - 90, start + 5, 4);
  algebra.roll(state, start + 100, 0);
  algebra.adopt(state, slidingWindow({ permits: 10, interval: 10_000, resolution: 1 }), 0);
  assert.is(state.total, 4);
  // The remaining entry lies within the old resolution, but belongs to another moment.
  assert.is(algebra.refund(state, start + 100, start - 90, 4), 0);
  assert.is(algebra.refund(state, start + 100, start + 5, 4), 4);
});

test('a long log in memory is compacted', () => {
  const state = algebra.create(slidingWindow({ permits: 100, interval: 100, resolution: 1 }));
  for (let i = 0; i < 5000; i++) {
    algebra.roll(state, start + i, 0);
    algebra.commit(state, start + i, start + i, 1);
    assert.ok(state.log.length <= 800, `${state.log.length / 2} entries`);
  }
});

test('a bucket under another rate refunds what still counts, and no more', () => {
  const limit = tokenBucket({ permits: 10, interval: 1000 });
  const bucket = algebraOf(limit);
  const state = bucket.create(limit);
  bucket.roll(state, start, 0);
  bucket.commit(state, start, start, 10);
  // Four permits were refilled before the change, and one after it.
  bucket.roll(state, start + 400, 0);
  bucket.adopt(state, tokenBucket({ permits: 1, interval: 1000, burst: 10 }), 0);
  bucket.roll(state, start + 1400, 0);
  assert.is(bucket.available(state, start + 1400, start + 1400), 5);
  assert.is(bucket.refund(state, start + 1400, start, 10), 5);
  assert.is(bucket.refund(state, start + 1400, start, 10), 0);
});

test.run();
