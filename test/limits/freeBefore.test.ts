// The first moment at which permits are free ahead of reservations, judged by brute force.
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { algebraOf, startState } from '../../src/limits/states.ts';
import { overLimit, type PermitsAt } from '../properties/oracle.ts';
import { runsOf } from '../support/campaign.ts';
import { seed } from '../support/seed.mjs';

const permits = 5;
const interval = 20;
const grants = fc.array(
  fc.record({ after: fc.integer({ min: 0, max: 40 }), n: fc.integer({ min: 1, max: permits }) }),
  {
    minLength: 1,
    maxLength: 12,
  },
);
/** So many that some become one step of a bucket. */
const manyGrants = fc.array(
  fc.record({ after: fc.integer({ min: 0, max: 9 }), n: fc.integer({ min: 1, max: 2 }) }),
  { minLength: 66, maxLength: 110 },
);
const asked = fc.record({ now: fc.integer({ min: 0, max: 60 }), n: fc.integer({ min: 1, max: permits }) });

for (const limit of [
  slidingWindow({ permits, interval, resolution: 1 }),
  slidingWindow({ permits, interval, resolution: 7 }),
  fixedWindow({ permits, interval }),
  tokenBucket({ permits, interval }),
  tokenBucket({ permits: 2, interval: 7, burst: permits }),
])
  test(`permits are free ahead of reservations only if all fit: ${JSON.stringify(limit)}`, () => {
    let found = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 4, arbitrary: grants }, manyGrants), asked, (all, { now, n }) => {
        const state = startState(limit, 100, 0);
        const { commit, earliest, freeBefore, roll } = algebraOf(state);
        const made: PermitsAt[] = [];
        let t = 100;
        for (const { after, n: each } of all) {
          t = Math.max(t + after, earliest(state, 100, 100, each));
          commit(state, 100, t, each);
          made.push({ t, n: each });
        }
        roll(state, 100 + now, 0);
        for (let i = 0; i < 3; i++) {
          const free = freeBefore(state, 100 + now, n);
          if (free === Infinity || free >= t) return;
          found++;
          assert.ok(free >= 100 + now);
          commit(state, 100 + now, free, n);
          made.push({ t: free, n });
          assert.is(overLimit(limit, made), undefined, `after ${n} at ${free}`);
        }
      }),
      { seed: seed(), numRuns: runsOf(3000) },
    );
    assert.ok(found > 0);
  });

test('permits are free in the window between the present one and that of a reservation', () => {
  for (const limit of [fixedWindow({ permits, interval }), slidingWindow({ permits, interval })]) {
    const state = startState(limit, 100, 0);
    const isSliding = limit.kind === 'slidingWindow';
    const { commit, freeBefore, refund } = algebraOf(state);
    commit(state, 100, 100, permits);
    commit(state, 100, 500, 1);
    for (const t of [120, 140, 160]) {
      assert.is(freeBefore(state, 100, permits), t);
      commit(state, 100, t, permits);
    }
    // The present window is still known. A sliding one that ends with a reservation is full.
    assert.is(refund(state, 110, 100, 2), 2);
    assert.is(freeBefore(state, 110, 2), isSliding ? 180 : 110);
    assert.is(freeBefore(state, 110, 3), 180);
    // Within an interval before the reservation, all but its permit are free: of a fixed window, it moves to the same one.
    assert.is(freeBefore(state, 481, permits - 1), 481);
    assert.ok(freeBefore(state, 481, permits) >= 500);
    assert.is(freeBefore(state, 480, permits), isSliding ? Infinity : 480);
  }
});

test.run();
