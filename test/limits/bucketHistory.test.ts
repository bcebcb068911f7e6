import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tokenBucket } from '../../src/limits/limit.ts';
import { tokenBucketAlgebra as algebra, type TokenBucketState } from '../../src/limits/tokenBucket.ts';

/** A bucket after these grants, each at a millisecond when it had enough permits. */
function bucketAfter(rate: Parameters<typeof tokenBucket>[0], ...grants: [at: number, permits: number][]) {
  const state = algebra.create(tokenBucket(rate));
  for (const [at, permits] of grants) {
    algebra.roll(state, at, 0);
    assert.ok(algebra.available(state, at, at) >= permits);
    algebra.commit(state, at, at, permits);
  }
  return state;
}

/** The permits that a refund restores at the time of the state. */
function restored(state: TokenBucketState, moment: number, permits: number): number {
  return algebra.refund(state, state.ts, moment, permits);
}

test('a refund restores what leaves room before each later grant', () => {
  const state = bucketAfter({ permits: 1, interval: 1, burst: 10 }, [0, 8], [1, 1], [6, 6], [7, 1]);
  // Before the grant at 7, the bucket lacked eight permits.
  assert.is(restored(state, 6, 6), 6);
  assert.is(restored(state, 1, 1), 1);
  assert.is(algebra.available(state, 7, 7), 8);
});

test('a reservation refilled at a faster rate leaves no room before later grants', () => {
  const state = algebra.create(tokenBucket({ permits: 1, interval: 3, burst: 1 }));
  for (const moment of [0, 3, 6, 9]) algebra.commit(state, 0, moment, 1);
  algebra.roll(state, 1, 0);
  algebra.commit(state, 1, 12, 1);
  algebra.adopt(state, tokenBucket({ permits: 2, interval: 3, burst: 1 }));
  algebra.roll(state, 7, 0);
  algebra.commit(state, 7, 8, 1);
  assert.is(restored(state, 12, 1), 0);
});

test('released permits reduce the room by as much', () => {
  const state = bucketAfter(
    { permits: 1, interval: 1, burst: 10 },
    [0, 8],
    [1, 1],
    [6, 6],
    [7, 1],
    [8, 1],
    [9, 1],
  );
  assert.is(algebra.release(state, 9, 9, 7), 7);
  // The bucket lacks two permits now, and two grants follow the one at 7.
  assert.is(restored(state, 7, 1), 0);
  assert.is(restored(state, 9, 1), 1);
});

test('a grant older than the two steps restores only what cannot have been refilled since', () => {
  const state = bucketAfter(
    { permits: 1, interval: 4, burst: 10 },
    [0, 8],
    [8, 3],
    [12, 1],
    [28, 4],
    [29, 1],
  );
  assert.is(restored(state, 0, 8), 0.5);
});

test('permits missing before the last grants are missing under another interval too', () => {
  const state = bucketAfter({ permits: 1, interval: 5, burst: 4 }, [0, 3], [2, 1]);
  algebra.adopt(state, tokenBucket({ permits: 1, interval: 4, burst: 1 }));
  algebra.roll(state, 3, 0);
  assert.is(restored(state, 0, 3), 2.5);
  assert.is(algebra.earliest(state, 3, 3, 1), 7);
});

test('permits missing before earlier grants are missing under another interval too', () => {
  const state = bucketAfter({ permits: 1, interval: 5, burst: 4 }, [0, 3], [5, 1], [6, 1]);
  algebra.adopt(state, tokenBucket({ permits: 1, interval: 4, burst: 4 }));
  assert.is(restored(state, 0, 3), 2);
});

test('after a cut of more than there was room for, later grants can be refunded as usual', () => {
  const state = bucketAfter({ permits: 1, interval: 1, burst: 10 }, [0, 1], [1, 10]);
  for (const moment of [7, 13, 19]) algebra.commit(state, 1, moment, 6);
  algebra.cut(state, 1, 8);
  // The five permits beyond a full bucket are lost, and earlier grants restore nothing.
  assert.is(algebra.earliest(state, 1, 1, 1), 9);
  for (const [at, permits] of [
    [16, 1],
    [17, 1],
  ]) {
    algebra.roll(state, at, 0);
    algebra.commit(state, at, at, permits);
  }
  assert.is(restored(state, 1, 10), 0);
  assert.is(restored(state, 16, 1), 1);
});

test.run();
