import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindowAlgebra as algebra } from '../../src/limits/fixedWindow.ts';
import { fixedWindow } from '../../src/limits/limit.ts';
import type { FixedWindowState } from '../../src/limits/windows.ts';

const start = 1_000_000;

/** A window of two permits and six milliseconds: one granted at its start, the other `late` milliseconds later. */
function granted(align: 'first' | 'epoch', late: number): FixedWindowState {
  const state = algebra.create(fixedWindow({ permits: 2, interval: 6, align }));
  const first = Math.ceil(start / 6) * 6;
  for (const t of [first, first + late]) {
    algebra.roll(state, t, 0);
    algebra.commit(state, t, t, 1);
  }
  return state;
}

for (const align of ['first', 'epoch'] as const) {
  test(`${align}: under a shorter interval a window goes on until its newest grant`, () => {
    const state = granted(align, 4);
    const first = state.start;
    algebra.adopt(state, fixedWindow({ permits: 1, interval: 1, align }), 0);
    assert.is(algebra.available(state, first + 4, first + 4), 0);
    assert.is(algebra.earliest(state, first + 4, first + 4, 1), first + 5);
  });

  test(`${align}: a refund of the old window takes nothing from a new one`, () => {
    const state = granted(align, 4);
    const first = state.start;
    algebra.adopt(state, fixedWindow({ permits: 1, interval: 1, align }), 0);
    const next = algebra.earliest(state, first + 4, first + 4, 1);
    algebra.commit(state, first + 4, next, 1);
    algebra.refund(state, first + 4, first + 4, 1);
    assert.is(algebra.earliest(state, first + 4, first + 4, 1), next + 1);
  });

  test(`${align}: the window before the last one also goes on until its newest grant`, () => {
    const state = granted(align, 4);
    const first = state.start;
    algebra.commit(state, first + 4, first + 6, 2);
    algebra.adopt(state, fixedWindow({ permits: 1, interval: 1, align }), 0);
    algebra.refund(state, first + 4, first + 6, 2);
    assert.is(algebra.earliest(state, first + 4, first + 4, 1), first + 5);
  });
}

test('a window that becomes aligned goes on until the grid has passed its newest grant', () => {
  const state = algebra.create(fixedWindow({ permits: 2, interval: 100, align: 'first' }));
  algebra.roll(state, start, 0);
  for (const t of [start, start + 90]) algebra.commit(state, start, t, 1);
  algebra.adopt(state, fixedWindow({ permits: 2, interval: 20, align: 'epoch' }), 0);
  assert.is(algebra.earliest(state, start, start, 1), start + 100);
});

test('an empty window on the clock has all permits under a longer interval', () => {
  const hour = 3_600_000;
  const first = Math.ceil(start / hour) * hour;
  const state = algebra.create(fixedWindow({ permits: 10, interval: 200, align: 'epoch' }));
  algebra.roll(state, first + 5_000, 0);
  algebra.commit(state, first + 5_000, first + 5_000, 3);
  const now = first + 5_300;
  algebra.roll(state, now, 0);
  algebra.adopt(state, fixedWindow({ permits: 10, interval: hour, align: 'epoch' }), 0);
  assert.is(algebra.available(state, now, now), 10);
  assert.is(algebra.earliest(state, now, now, 10), now);
  algebra.commit(state, now, now, 10);
  assert.is(algebra.earliest(state, now, now, 1), first + hour);
});

test('an empty window on the clock has all permits after a step of the clock', () => {
  const state = algebra.create(fixedWindow({ permits: 10, interval: 1_000, align: 'epoch' }));
  const first = Math.ceil(start / 1_000) * 1_000;
  algebra.roll(state, first, 0);
  algebra.commit(state, first, first, 10);
  // In the middle of the next window but one, the clock steps back to the end of a window.
  algebra.roll(state, first + 2_500, 400);
  assert.is(algebra.available(state, first + 2_500, first + 2_500), 10);
  assert.is(algebra.earliest(state, first + 2_500, first + 2_500, 10), first + 2_500);
  // In the one that follows the used one, that would be in both: the permits come with the next window.
  const next = algebra.create(fixedWindow({ permits: 10, interval: 1_000, align: 'epoch' }));
  algebra.roll(next, first + 990, 0);
  algebra.commit(next, first + 990, first + 990, 10);
  algebra.roll(next, first + 1_005, 0);
  algebra.roll(next, first + 1_005, 400);
  assert.is(algebra.earliest(next, first + 1_005, first + 1_005, 1), first + 1_400);
});

/** A window on the clock, at whose start two of its four permits are reserved for `late`, and some of the next one for its start. */
function withNext(interval: number, late: number, next: number) {
  const state = algebra.create(fixedWindow({ permits: 4, interval, align: 'epoch' }));
  const first = Math.ceil(start / interval) * interval;
  algebra.roll(state, first, 0);
  algebra.commit(state, first, first + late, 2);
  algebra.commit(state, first, first + interval, next);
  return { state, first };
}

test('after a step of the clock, no window overlaps one that is no longer known', () => {
  const { state, first } = withNext(41, 20, 2);
  // The first window has ended, and the next one becomes empty.
  const now = first + 45;
  algebra.roll(state, now, 0);
  assert.is(algebra.refund(state, now, first + 41, 2), 2);
  algebra.roll(state, now, 9);
  assert.is(algebra.earliest(state, now, now, 1), first + 50);
});

test('after a step of the clock, an ended window counts until the one of the grid that it overlaps has ended', () => {
  const { state, first } = withNext(40, 38, 4);
  const now = first + 62;
  algebra.roll(state, now, 38);
  assert.is(algebra.refund(state, now, first + 40, 4), 4);
  assert.is(algebra.available(state, now, now), 2);
  assert.is(algebra.earliest(state, now, now, 3), first + 78);
});

for (const align of ['first', 'epoch'] as const)
  test(`${align}: a cancelled reservation in a later window leaves no newest moment ahead`, () => {
    const state = algebra.create(fixedWindow({ permits: 4, interval: 40, align }));
    algebra.roll(state, start, 0);
    algebra.commit(state, start, start + 5_000, 1);
    assert.is(algebra.refund(state, start, start + 5_000, 1), 1);
    assert.ok(algebra.taken(state).newest <= start);
    assert.is(algebra.available(state, start, start), 4);
  });

test('nothing is granted ahead of a window off the new grid, whose permits count in the same window of the grid', () => {
  const first = Math.ceil(start / 36) * 36;
  const state = algebra.create(fixedWindow({ permits: 6, interval: 15, align: 'first' }));
  algebra.roll(state, first, 0);
  algebra.commit(state, first, first, 6);
  algebra.commit(state, first, first + 15, 2);
  algebra.adopt(state, fixedWindow({ permits: 4, interval: 36, align: 'epoch' }), 0);
  assert.is(algebra.release(state, first, first, 5), 5);
  assert.not(algebra.hasGap(state, first, first, 1, Infinity, true));
  assert.is(algebra.earliest(state, first, first, 2), first + 15);
});

test('windows that overlap under a longer interval grant no more than was granted in them', () => {
  const state = algebra.create(fixedWindow({ permits: 2, interval: 600, align: 'first' }));
  algebra.roll(state, start, 0);
  for (const t of [start, start + 600, start + 1200]) algebra.commit(state, start, t, 2);
  assert.is(algebra.refund(state, start, start + 600, 2), 2);
  assert.ok(algebra.hasGap(state, start + 600, start + 600, 2, Infinity, true));
  // Four permits and two reserved ones would be granted in less than 2100 ms.
  algebra.adopt(state, fixedWindow({ permits: 4, interval: 2100, align: 'first' }), 0);
  assert.not(algebra.hasGap(state, start + 600, start + 600, 1, Infinity, true));
  assert.is(algebra.earliest(state, start + 600, start + 600, 2), start + 1200);
});

test('a window goes on although reservations behind it, which other limits had delayed, are void', () => {
  const state = algebra.create(fixedWindow({ permits: 2, interval: 24_000, align: 'first' }));
  for (const t of [start, start + 30_000, start + 60_000]) {
    algebra.roll(state, start, 0);
    algebra.commit(state, start, t, 2);
  }
  algebra.cut(state, start + 1000, start + 3000);
  // It began at `start`, but might have begun as late as the last valid moment.
  const free = algebra.earliest(state, start + 1000, start + 1000, 1);
  assert.ok(free >= start + 24_000 && free <= start + 27_000, `${free - start}`);
});

test("another kind of limit starts with the window's permits, granted at its newest moment", () => {
  const state = granted('first', 4);
  assert.equal(algebra.taken(state), { permits: 2, newest: state.start + 4 });
});

test.run();
