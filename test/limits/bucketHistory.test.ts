import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { heldAhead } from '../../src/limits/bucketLevel.ts';
import { newestIn } from '../../src/limits/bucketSteps.ts';
import { tokenBucket } from '../../src/limits/limit.ts';
import { tokenBucketAlgebra as algebra, type TokenBucketState } from '../../src/limits/tokenBucket.ts';
import { stepsOf } from '../support/bucketSteps.ts';

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
  algebra.adopt(state, tokenBucket({ permits: 2, interval: 3, burst: 1 }), 0);
  algebra.roll(state, 7, 0);
  algebra.commit(state, 7, 8, 1);
  assert.is(restored(state, 12, 1), 0);
});

test('a refund restores no more than a release has left to refund', () => {
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
  // The bucket lacks two permits now.
  assert.is(restored(state, 7, 1), 1);
  assert.is(restored(state, 9, 1), 1);
  assert.is(restored(state, 6, 6), 0);
});

test('a refund of an old grant restores what the fullest moment since then leaves room for', () => {
  const state = bucketAfter(
    { permits: 1, interval: 4, burst: 10 },
    [0, 8],
    [8, 3],
    [12, 1],
    [28, 4],
    [29, 1],
  );
  // Before the grant at 28, the bucket lacked five permits.
  assert.is(restored(state, 0, 8), 5);
});

test('after many later grants, a refund restores only what cannot have been refilled since', () => {
  const grants = Array.from({ length: 30 }, (_, i): [number, number] => [1 + 6 * i, 6]);
  const state = bucketAfter({ permits: 1, interval: 1, burst: 10 }, [0, 5], ...grants);
  const { length } = stepsOf(state);
  assert.ok(length <= 24, `${length} steps`);
  assert.is(restored(state, 1, 6), 0);
  assert.is(restored(state, 175 - 6, 6), 4);
});

test('a refund knows how full the bucket was to an eighth of it', () => {
  const grants = Array.from({ length: 16 }, (_, i): [number, number] => [1000 * (1 + i), 1]);
  const state = bucketAfter({ permits: 1, interval: 1000, burst: 16 }, [0, 16], ...grants);
  // One of the 16 is left at any time, and the others could be there again.
  for (let i = 1; i <= 12; i++) assert.is(restored(state, 0, 1), 1);
});

/** Reserves single permits, a millisecond apart, and grants one when all of them are due: more steps than are kept. */
function manySteps(state: TokenBucketState, since: number): void {
  for (let i = 0; i < 26; i++) algebra.commit(state, since, since + 10 + i, 1);
  algebra.roll(state, since + 100, 0);
  algebra.commit(state, since + 100, since + 100, 1);
}

test('if there are too many steps, the newest are merged, and the oldest stay exact', () => {
  const state = bucketAfter({ permits: 1, interval: 1000, burst: 64 });
  manySteps(state, 1000);
  assert.equal(
    stepsOf(state).map(({ held }) => held),
    [1, 8, ...Array(18).fill(1)],
  );
});

test('if there are too many steps that cannot be merged within an eighth of the bucket, larger ones keep what the oldest restore', () => {
  const permits: [at: number, permits: number][] = Array.from({ length: 60 }, (_, i) => [10 * i, 1]);
  const state = bucketAfter({ permits: 1, interval: 10, burst: 9 }, [0, 8], ...permits);
  // Four times what it holds was refilled since, but it was nearly empty before each grant.
  assert.is(restored(state, 200, 1), 1);
  const held = stepsOf(state).map((step) => step.held);
  assert.ok(held.slice(0, -1).every((n) => n <= 4));
  assert.ok(held.at(-1)! <= 9);
});

test('if there are too many steps, those before the refunds filled the bucket are forgotten', () => {
  const state = bucketAfter({ permits: 1, interval: 1000, burst: 64 }, [1000, 5], [3000, 5]);
  manySteps(state, 3000);
  // Before the first reservation, the bucket lacked 7.99 permits.
  assert.is(restored(state, 3000, 5), 5);
  assert.is(restored(state, 1000, 4), 2.99);
  assert.is(stepsOf(state).at(-1)!.since, 1000);
  manySteps(state, 3100);
  assert.is(stepsOf(state).at(-1)!.since, 3010);
  assert.is(restored(state, 1000, 1), 0);
});

test('reservations are not forgotten, although the bucket is full before them', () => {
  const state = algebra.create(tokenBucket({ permits: 1, interval: 10, burst: 1 }));
  for (let i = 0; i <= 25; i++) algebra.commit(state, 0, 10 * i, 1);
  // These wait for another limit.
  for (const moment of [5000, 6000]) algebra.commit(state, 0, moment, 1);
  algebra.roll(state, 255, 0);
  algebra.commit(state, 255, 7000, 1);
  assert.equal(
    stepsOf(state)
      .slice(0, 3)
      .map(({ since }) => since),
    [7000, 6000, 5000],
  );
});

test('permits that come back are granted ahead of reservations, however small the request is', () => {
  const state = algebra.create(tokenBucket({ permits: 100, interval: 1000 }));
  algebra.roll(state, 1000, 0);
  algebra.commit(state, 1000, 1000, 100);
  for (let i = 1; i <= 64; i++) algebra.commit(state, 1000, 1000 + 10 * i, 1);
  assert.is(algebra.refund(state, 1001, 1000, 5), 5);
  algebra.roll(state, 1001, 0);
  assert.ok(algebra.hasGap(state, 1001, 1001, 1, Infinity, true));
  assert.ok(algebra.hasGap(state, 1001, 1001, 5, Infinity, true));
  assert.not(algebra.hasGap(state, 1001, 1001, 6, Infinity, true));
  assert.not(algebra.hasGap(state, 1001, 1001, 1, Infinity, false));
});

test('reservations that are ahead share a step up to a 512th of the burst', () => {
  for (const [permits, largest] of [
    [500, 1],
    [1100, 2],
  ]) {
    const state = algebra.create(tokenBucket({ permits, interval: 1000 }));
    algebra.roll(state, 1000, 0);
    algebra.commit(state, 1000, 1000, permits);
    for (let i = 1; i <= 40; i++) algebra.commit(state, 1000, 1000 + 10 * i, 1);
    const held = stepsOf(state).map(({ held }) => held);
    assert.is(Math.max(...held.slice(0, -1)), largest);
  }
});

test('grants ahead of reservations leave the number of steps within its bound', () => {
  const state = algebra.create(tokenBucket({ permits: 1, interval: 10, burst: 1 }));
  for (let i = 0; i <= 64; i++) algebra.commit(state, 0, 10 * i, 1);
  const { length } = stepsOf(state);
  for (let i = 1; i <= 5; i++) algebra.commit(state, 0, 10 * i + 5, 1);
  assert.is(stepsOf(state).length, length);
});

test('a full bucket remembers no grants', () => {
  const state = bucketAfter({ permits: 1, interval: 1, burst: 10 }, [0, 5], [3, 4]);
  algebra.roll(state, 20, 0);
  assert.equal(stepsOf(state), []);
  assert.is(restored(state, 3, 4), 0);
});

test('permits that no reservation needs can be granted ahead of the reservations', () => {
  const state = algebra.create(tokenBucket({ permits: 10, interval: 1000, burst: 2 }));
  algebra.roll(state, 1000, 0);
  for (const moment of [1000, 1000, 1100, 1200]) algebra.commit(state, 1000, moment, 1);
  const gap = (n: number, before: number) => algebra.hasGap(state, 1003, 1003, n, before, true);
  algebra.roll(state, 1003, 0);
  assert.not(gap(1, Infinity));
  assert.is(algebra.refund(state, 1003, 1000, 1), 1);
  assert.ok(gap(1, Infinity));
  assert.not(gap(2, Infinity));
  algebra.commit(state, 1003, 1003, 1);
  assert.not(gap(1, Infinity));
  // Before the reservation for 1100, nothing needs the refill since 1000, which is less than a permit.
  assert.not(gap(1, 1100));
});

test('reservations of single permits keep none of those that came back from being granted ahead of them', () => {
  const state = algebra.create(tokenBucket({ permits: 50, interval: 1000 }));
  algebra.roll(state, 1000, 0);
  algebra.commit(state, 1000, 1000, 50);
  for (let i = 1; i <= 6; i++) algebra.commit(state, 1000, 1000 + 20 * i, 1);
  assert.is(algebra.refund(state, 1001, 1000, 5), 5);
  algebra.roll(state, 1001, 0);
  // Each reservation takes what is refilled until its moment.
  assert.ok(algebra.hasGap(state, 1001, 1001, 5, Infinity, true));
  assert.not(algebra.hasGap(state, 1001, 1001, 6, Infinity, true));
});

test('without a refund, only a request whose permits take 20 ms or more may be granted ahead of reservations', () => {
  for (const [interval, may] of [
    [19, false],
    [20, true],
  ] as const) {
    const state = algebra.create(tokenBucket({ permits: 1, interval, burst: 10 }));
    algebra.roll(state, 1000, 0);
    assert.is(algebra.hasGap(state, 1000, 1000, 1, Infinity, false), may);
  }
});

test('permits that a reservation needs are not granted ahead of it', () => {
  const state = algebra.create(tokenBucket({ permits: 10, interval: 1000 }));
  algebra.roll(state, 1000, 0);
  algebra.commit(state, 1000, 1000, 5);
  algebra.commit(state, 1000, 1300, 8);
  assert.not(algebra.hasGap(state, 1000, 1000, 1, Infinity, true));
  // If the reservation is refunded instead, there are five.
  assert.ok(algebra.hasGap(state, 1000, 1000, 5, 1300, true));
  assert.not(algebra.hasGap(state, 1000, 1000, 6, 1300, true));
});

test('reservations of which some may be void do not count as permits that are still there', () => {
  const earlier = { since: 1005, until: 1005, held: 1, earlier: undefined };
  const history = { since: 1010, until: 1020, held: 5, earlier, lastAt: -1, sameSince: 0, former: undefined };
  assert.is(heldAhead({ ...history, unsureUntil: 0 }, 1000), 6);
  assert.is(heldAhead({ ...history, unsureUntil: 1005 }, 1000), 5);
  assert.is(heldAhead({ ...history, unsureUntil: 1020 }, 1000), 0);
});

test('permits missing before the last grants are missing under another interval too', () => {
  const state = bucketAfter({ permits: 1, interval: 5, burst: 4 }, [0, 3], [2, 1]);
  algebra.adopt(state, tokenBucket({ permits: 1, interval: 4, burst: 1 }), 0);
  algebra.roll(state, 3, 0);
  assert.is(restored(state, 0, 3), 2.5);
  assert.is(algebra.earliest(state, 3, 3, 1), 7);
});

test('permits missing before earlier grants are missing under another interval too', () => {
  const state = bucketAfter({ permits: 1, interval: 5, burst: 4 }, [0, 3], [5, 1], [6, 1]);
  algebra.adopt(state, tokenBucket({ permits: 1, interval: 4, burst: 4 }), 0);
  assert.is(restored(state, 0, 3), 2);
});

test('a cancelled reservation that waited for another limit does not keep the bucket empty until its moment', () => {
  const state = bucketAfter({ permits: 100, interval: 1000, burst: 100 }, [1000, 60]);
  algebra.commit(state, 1000, 5_000, 1);
  algebra.commit(state, 1000, 3_601_000, 1);
  assert.is(restored(state, 3_601_000, 1), 1);
  // As if it had never been made: there are 99 permits at 5,000.
  assert.is(algebra.earliest(state, 1000, 1000, 1), 4020);
  assert.is(restored(state, 5_000, 1), 1);
  assert.is(algebra.available(state, 1000, 1000), 40);
});

test('what a bucket has ahead of a far reservation is granted, as it is full until then', () => {
  const state = bucketAfter({ permits: 100, interval: 1000, burst: 10 }, [1000, 4]);
  algebra.commit(state, 1000, 61_000, 1);
  const isFree = (at: number, n: number) => algebra.hasGap(state, at, at, n, Infinity, true);
  assert.ok(isFree(1000, 6));
  assert.not(isFree(1000, 7));
  algebra.commit(state, 1000, 1000, 6);
  algebra.roll(state, 1050, 0);
  assert.ok(isFree(1050, 5));
  assert.not(isFree(1050, 6));
  assert.is(algebra.freeBefore(state, 1050, 8), 1080);
  // Just before the reservation, its permit is left.
  algebra.roll(state, 60_999, 0);
  assert.ok(isFree(60_999, 9));
  assert.not(isFree(60_999, 10));
  // What was granted has been refilled: the bucket is as full behind the reservation as without these grants.
  algebra.roll(state, 61_000, 0);
  assert.is(algebra.available(state, 61_000, 61_000), 9);
});

test('what comes back to a bucket ahead of a far reservation is granted, also if it is full until then without it', () => {
  const state = bucketAfter({ permits: 100, interval: 1000, burst: 10 }, [1000, 8]);
  algebra.commit(state, 1000, 61_000, 1);
  algebra.roll(state, 1010, 0);
  assert.is(algebra.freeBefore(state, 1010, 3), 1010);
  assert.is(algebra.freeBefore(state, 1010, 4), 1020);
  algebra.refund(state, 1010, 1000, 5);
  assert.is(algebra.freeBefore(state, 1010, 8), 1010);
  assert.is(algebra.freeBefore(state, 1010, 9), 1020);
  algebra.release(state, 1010, 1010, 2);
  assert.is(algebra.freeBefore(state, 1010, 10), 1010);
});

test('a reservation for the next millisecond does not hide what a bucket has ahead of a far one', () => {
  const state = bucketAfter({ permits: 700, interval: 1000, burst: 10 }, [1000, 10]);
  algebra.commit(state, 1000, 61_000, 1);
  algebra.roll(state, 1001, 0);
  // The first one counts as taken, although 0.3 permits are missing.
  for (const t of [1002, 1003, 1005]) {
    assert.is(algebra.freeBefore(state, 1001, 1), t);
    algebra.commit(state, 1001, t, 1);
  }
  algebra.roll(state, 1030, 0);
  assert.is(algebra.freeBefore(state, 1030, 10), 1030);
  assert.is(algebra.freeBefore(state, 1030, 11), Infinity);
});

test('a reservation counts, although it has become one step with a grant', () => {
  const state = bucketAfter({ permits: 1, interval: 1000, burst: 2000 }, [1000, 1900], [1010, 1]);
  // The second one waits for another limit.
  for (const moment of [61_000, 3_000_000]) algebra.commit(state, 1010, moment, 1);
  assert.equal(
    stepsOf(state).map(({ since }) => since),
    [3_000_000, 1010, 1000],
  );
  algebra.roll(state, 61_010, 0);
  // Of 99 permits and 60 that were refilled, one was reserved.
  assert.ok(algebra.hasGap(state, 61_010, 61_010, 158, Infinity, true));
  assert.not(algebra.hasGap(state, 61_010, 61_010, 159, Infinity, true));
});

test('a reservation that was charged when the rate changed leaves no room before later grants', () => {
  const state = bucketAfter({ permits: 100, interval: 1000, burst: 100 }, [1000, 100]);
  algebra.commit(state, 1000, 2000, 100);
  // No more than the refill of one millisecond.
  assert.ok(algebra.refund(state, 1000, 1000, 100) < 0.1);
  algebra.adopt(state, tokenBucket({ permits: 1000, interval: 1000, burst: 100 }), 0);
  algebra.roll(state, 1250, 0);
  algebra.commit(state, 1250, 1250, 100);
  assert.is(restored(state, 2000, 100), 0);
});

test('a reservation made before the rate changed leaves no room before a later one', () => {
  const state = bucketAfter({ permits: 100, interval: 1000, burst: 100 }, [1000, 100]);
  for (const moment of [2000, 3000]) algebra.commit(state, 1000, moment, 100);
  algebra.adopt(state, tokenBucket({ permits: 101, interval: 1000, burst: 100 }), 0);
  // Without it, the bucket is full by 2000, and the refill until 3000 is lost.
  assert.is(restored(state, 2000, 100), 0);
});

/** A bucket of which ten permits were granted, and 20 reserved one by one, before its rate changed at once. */
function changedAhead(permits: number): TokenBucketState {
  const state = bucketAfter({ permits: 10, interval: 1000, burst: 10 }, [1000, 10]);
  for (let i = 1; i <= 20; i++) algebra.commit(state, 1000, 1000 + 100 * i, 1);
  algebra.adopt(state, tokenBucket({ permits, interval: 1000, burst: 10 }), 0);
  return state;
}

for (const permits of [5, 8, 20])
  for (const [order, place] of [
    ['the newest first', (i: number) => 20 - i],
    ['the oldest first', (i: number) => 1 + i],
    ['those of two clients in turn', (i: number) => 1 + ((2 * i) % 20) + Math.floor(i / 10)],
  ] as const)
    test(`reservations that are cancelled after the rate has changed to ${permits} are not charged: ${order}`, () => {
      const state = changedAhead(permits);
      assert.is(state.units, -20_000);
      for (let i = 0; i < 20; i++) algebra.refund(state, 1000, 1000 + 100 * place(i), 1);
      assert.is(state.units, 0);
    });

test('half of the reservations are given back after a lower rate has come into force', () => {
  const state = changedAhead(8);
  for (let i = 1; i <= 10; i++) assert.is(restored(state, 1000 + 200 * i, 1), 1);
});

test('reservations that are void after the rate has changed are not charged', () => {
  const state = changedAhead(20);
  algebra.cut(state, 1000, 1500);
  assert.is(state.units, -5000);
  assert.is(newestIn(state), 1500);
});

test('grants from before a change of the rate are given back one by one', () => {
  const state = bucketAfter(
    { permits: 10, interval: 1000, burst: 10 },
    ...Array.from({ length: 10 }, (_, i): [number, number] => [1000 + 20 * i, 1]),
  );
  algebra.roll(state, 1500, 0);
  algebra.adopt(state, tokenBucket({ permits: 8, interval: 1000, burst: 10 }), 0);
  // Five have been refilled.
  for (let i = 9; i >= 5; i--) assert.is(restored(state, 1000 + 20 * i, 1), 1);
  assert.is(restored(state, 1000, 1), 0);
});

for (const [permits, interval, burst] of [
  [10, 1000, 31],
  [11, 1000, 30],
  [5, 1000, 10],
  [7, 500, 30],
])
  test(`grants from before a change are given back as far as the bucket was not refilled: ${permits} per ${interval} ms of ${burst}`, () => {
    // The bucket is emptied, and what is refilled in two seconds is granted.
    const refilled = Array.from({ length: 20 }, (_, i): [number, number] => [100 * (i + 1), 1]);
    const state = bucketAfter({ permits: 10, interval: 1000, burst: 30 }, [0, 30], ...refilled);
    algebra.adopt(state, tokenBucket({ permits, interval, burst }), 0);
    algebra.roll(state, 2001, 0);
    const given = restored(state, 0, 30);
    // Of each step with some of the later grants, the first one counts as if it was made with the last.
    assert.ok(given > 26.9 && given <= 30, `${given}`);
  });

test('of the refill before a change to another interval, two units are taken to be rounded up', () => {
  const state = bucketAfter({ permits: 10, interval: 1000, burst: 30 }, [0, 30], [1000, 10]);
  algebra.roll(state, 2000, 0);
  algebra.adopt(state, tokenBucket({ permits: 10, interval: 500, burst: 30 }), 0);
  // There was room for 20 permits at 1000, since ten of the first 30 had been refilled. A unit is 1/500 of a permit.
  assert.is(restored(state, 0, 30), 20 - 2 / 500);
});

type Change = [now: number, permits: number, interval: number];
// At 1000, there was room for 20 permits. Fewer come back if less of the refill since then is known.
const several: [title: string, changes: Change[], known: number][] = [
  [
    'all of it, as if at the slowest rate',
    [
      [1500, 20, 1000],
      [1600, 10, 1000],
    ],
    20 - 1,
  ],
  ['all of it, though two rates come into force in turn', alternating(1500, 1800), 20 - 0.15],
  [
    'that since the former change, if it was to another interval',
    [
      [1500, 10, 500],
      [1600, 10, 1000],
    ],
    20 - 5 - 2 / 1000,
  ],
];
for (const [title, changes, known] of several)
  test(`what is known of the refill before several changes: ${title}`, () => {
    const state = bucketAfter({ permits: 10, interval: 1000, burst: 30 }, [0, 30], [1000, 10]);
    for (const change of changes) adopt(state, change);
    algebra.roll(state, 1800, 0);
    const given = restored(state, 0, 30);
    assert.ok(Math.abs(given - known) < 1e-9, `${given}`);
  });

test('what is known of the refill before several changes: that since the former change, if it is more', () => {
  const state = bucketAfter({ permits: 1, interval: 1000, burst: 30 }, [0, 30]);
  adopt(state, [100, 10, 1000]);
  algebra.commit(state, 1100, 1100, 10);
  adopt(state, [1900, 11, 1000]);
  algebra.roll(state, 2000, 0);
  // Before the second grant, 10.1 had been refilled.
  assert.is(restored(state, 0, 30), 30 - 10.1);
});

function adopt(state: TokenBucketState, [now, permits, interval]: Change): void {
  algebra.roll(state, now, 0);
  algebra.adopt(state, tokenBucket({ permits, interval, burst: 30 }), 0);
}

/** A rate of eleven permits a second comes into force, and one of ten 5 ms later, again and again. */
function alternating(from: number, until: number): Change[] {
  return Array.from({ length: (until - from) / 5 }, (_, i) => [from + 5 * i, 11 - (i % 2), 1000]);
}

test('nothing is granted ahead of reservations that were charged when the rate changed', () => {
  const state = changedAhead(20);
  algebra.roll(state, 1050, 0);
  assert.not(algebra.hasGap(state, 1050, 1050, 1, 1100, true));
});

test('a bucket has no room for the refill of reservations that count as taken since the rate changed', () => {
  const state = bucketAfter({ permits: 1, interval: 4, burst: 4 });
  algebra.roll(state, 1000, 0);
  for (const [t, n] of [
    [1021, 1],
    [1013, 2],
  ])
    algebra.commit(state, 1000, t, n);
  algebra.adopt(state, tokenBucket({ permits: 3, interval: 5, burst: 1 }), 0);
  // They wait for another limit. The bucket is full before the first one, and has no more than its permit.
  for (const t of [1017, 1018, 1020, 1022]) {
    algebra.commit(state, 1000, t, 1);
    assert.is(algebra.freeBefore(state, 1000, 1), Infinity);
  }
  restored(state, 1020, 1);
  assert.is(algebra.freeBefore(state, 1000, 1), Infinity);
});

for (const [title, kept] of [
  ['behind', []],
  ['among', [1500]],
] as const)
  test(`a cancelled reservation ${title} those that were charged when the rate changed leaves the others' permits owed`, () => {
    const state = bucketAfter({ permits: 10, interval: 1000, burst: 10 }, [1000, 10]);
    for (let i = 1; i <= 5; i++) algebra.commit(state, 1000, 1000 + 100 * i, 1);
    algebra.adopt(state, tokenBucket({ permits: 20, interval: 1000, burst: 5 }), 0);
    for (let i = 5 - kept.length; i > 0; i--) restored(state, 1000 + 100 * i, 1);
    const moment = algebra.earliest(state, 1000, 1000, 1);
    assert.is(moment, 1300 + 50 * kept.length);
    algebra.commit(state, 1000, moment, 1);
    for (const cancelled of [moment, ...kept]) restored(state, cancelled, 1);
    assert.is(algebra.earliest(state, 1000, 1000, 1), 1300);
  });

test('a reservation that was charged at a change of the rate, and refilled, is still not owed after the next one', () => {
  const state = bucketAfter({ permits: 1, interval: 10, burst: 10 }, [1000, 10]);
  algebra.commit(state, 1000, 1050, 5);
  algebra.adopt(state, tokenBucket({ permits: 1, interval: 1, burst: 10 }), 0);
  algebra.roll(state, 1015, 0);
  // All is refilled. These are missing when the burst becomes smaller.
  algebra.commit(state, 1015, 1015, 10);
  algebra.adopt(state, tokenBucket({ permits: 1, interval: 100, burst: 5 }), 0);
  assert.is(restored(state, 1050, 5), 0);
  algebra.roll(state, 1060, 0);
  const moment = algebra.earliest(state, 1060, 1060, 1);
  assert.is(moment, 1615);
  algebra.commit(state, 1060, moment, 1);
  restored(state, moment, 1);
  assert.is(algebra.earliest(state, 1060, 1060, 1), 1615);
});

test('a refund of a grant from before a change of the rate restores none of a later grant at its moment', () => {
  const state = algebra.create(tokenBucket({ permits: 1000, interval: 1, burst: 1000 }));
  algebra.roll(state, 10, 0);
  algebra.commit(state, 10, 11, 1000);
  algebra.roll(state, 11, 0);
  algebra.adopt(state, tokenBucket({ permits: 1, interval: 60_000, burst: 1000 }), 0);
  algebra.commit(state, 11, 11, 1000);
  assert.is(restored(state, 11, 1000), 0);
});

test('after a cut of more than there was room for, later grants can be refunded as usual', () => {
  const state = bucketAfter({ permits: 1, interval: 1, burst: 10 }, [0, 1], [1, 10]);
  for (const moment of [7, 13, 19]) algebra.commit(state, 1, moment, 6);
  algebra.cut(state, 1, 8);
  // The void reservations are refunded exactly.
  assert.is(algebra.earliest(state, 1, 1, 1), 8);
  for (const [at, permits] of [
    [16, 1],
    [17, 1],
  ]) {
    algebra.roll(state, at, 0);
    algebra.commit(state, at, at, permits);
  }
  // Before the grants at 16 and 17, the bucket lacked one permit.
  assert.is(restored(state, 1, 10), 1);
  assert.is(restored(state, 16, 1), 0);
});

test('grants that are never refunded need one step, until there is another grant', () => {
  const state = bucketAfter({ permits: 1, interval: 10, burst: 10 });
  const keep = (at: number) => {
    algebra.roll(state, at, 0);
    algebra.commit(state, at, at, 1, true);
  };
  for (const at of [0, 1, 2]) keep(at);
  assert.is(stepsOf(state).length, 1);
  algebra.roll(state, 3, 0);
  algebra.commit(state, 3, 3, 2);
  for (const at of [4, 5]) keep(at);
  // The steps behind the newest one are as large as those of all grants may be.
  assert.equal(
    stepsOf(state).map(({ since, held }) => [since, held]),
    [
      [5, 1],
      [4, 1],
      [3, 2],
      [0, 3],
    ],
  );
  assert.is(restored(state, 3, 2), 2);
  // A full bucket has forgotten all of them.
  keep(200);
  keep(201);
  assert.is(stepsOf(state).length, 1);
});

test.run();
