import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { newestIn } from '../../src/limits/bucketSteps.ts';
import { tokenBucket } from '../../src/limits/limit.ts';
import { tokenBucketAlgebra as algebra } from '../../src/limits/tokenBucket.ts';

/** Pseudo-random numbers from 0 to 1, the same in every run. */
function numbers(): () => number {
  let seed = 1;
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
}

/**
 * The part of the rate and the burst that one client uses. It always requests more, has one permit reserved ahead, and refunds
 * the part `refunded` of its grants: within `after` ms, or before their moments.
 */
function usedPart(rate: { permits: number; interval: number }, refunded: number, after: number): number {
  const state = algebra.create(tokenBucket(rate));
  const random = numbers();
  const [start, end] = [1000, 21_000];
  let refunds: { at: number; moment: number }[] = [];
  let used = 0;
  for (let now = start; now < end; now++) {
    algebra.roll(state, now, 0);
    for (const { at, moment } of refunds) if (at <= now) algebra.refund(state, now, moment, 1);
    refunds = refunds.filter(({ at }) => at > now);
    while (newestIn(state) <= now || algebra.available(state, now, now) > 0) {
      const moment = algebra.earliest(state, now, now, 1);
      algebra.commit(state, now, moment, 1);
      if (random() >= refunded) used++;
      else refunds.push({ at: random() < 0.5 ? moment + 1 + Math.floor(random() * after) : now + 1, moment });
    }
  }
  return used / (rate.permits + ((end - start) * rate.permits) / rate.interval);
}

for (const permits of [100, 1000])
  for (const refunded of [0.4, 0.6, 0.9])
    test(`${permits} permits a second are used when ${refunded * 100} % are refunded at once or soon`, () => {
      for (const after of [1, 5, 20]) {
        const used = usedPart({ permits, interval: 1000 }, refunded, after);
        assert.ok(used >= 0.95 && used <= 1, `${used} within ${after} ms`);
      }
    });

test('permits refunded while others are reserved are free at once', () => {
  const state = algebra.create(tokenBucket({ permits: 10, interval: 5000 }));
  const start = 1_000_000;
  algebra.roll(state, start, 0);
  algebra.commit(state, start, start, 10);
  assert.is(algebra.earliest(state, start, start, 5), start + 2500);
  algebra.commit(state, start, start + 2500, 5);
  assert.is(algebra.refund(state, start, start + 2500, 5), 5);
  assert.is(newestIn(state), start);
  algebra.roll(state, start + 1, 0);
  // Less the refill of two milliseconds.
  assert.ok(algebra.refund(state, start + 1, start, 9) > 8.99);
  algebra.roll(state, start + 3, 0);
  assert.is(algebra.available(state, start + 3, start + 3), 9);
});

test('a bucket with burst 1 restores a reservation that is ahead, and none whose moment has passed', () => {
  const state = algebra.create(tokenBucket({ permits: 1, interval: 100, burst: 1 }));
  algebra.roll(state, 1000, 0);
  for (const moment of [1000, 1100, 1200]) algebra.commit(state, 1000, moment, 1);
  assert.is(algebra.refund(state, 1000, 1200, 1), 1);
  assert.is(algebra.earliest(state, 1000, 1000, 1), 1200);
  algebra.commit(state, 1000, 1200, 1);
  algebra.roll(state, 1190, 0);
  // The reservation for 1200 depends on it.
  assert.is(algebra.refund(state, 1190, 1100, 1), 0);
  algebra.roll(state, 1250, 0);
  // Half of it has been refilled since.
  assert.is(algebra.refund(state, 1250, 1200, 1), 0.5);
  assert.is(algebra.available(state, 1250, 1250), 1);
});

test('reservations after a cut are refunded in full if their number is known', () => {
  const state = algebra.create(tokenBucket({ permits: 10, interval: 5000 }));
  algebra.roll(state, 1000, 0);
  algebra.commit(state, 1000, 1000, 10);
  algebra.commit(state, 1000, 3500, 5);
  algebra.roll(state, 1001, 0);
  algebra.refund(state, 1001, 1000, 9);
  algebra.cut(state, 1001, 1001);
  assert.ok(algebra.full(state, 1001) <= 1001 + 500 + 2500);
  assert.is(newestIn(state), 1000);
  assert.is(algebra.refund(state, 1001, 3500, 5), 0);
});

test.run();
