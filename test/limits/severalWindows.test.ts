import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindowAlgebra as algebra } from '../../src/limits/fixedWindow.ts';
import { fixedWindow } from '../../src/limits/limit.ts';
import { startWith } from '../../src/limits/states.ts';
import type { FixedWindowState } from '../../src/limits/windows.ts';

const start = 1_000_000;

/** A state with all permits of the first window granted, and five of the next one reserved. */
function reservedWindow(align: 'first' | 'epoch'): FixedWindowState {
  const state = algebra.create(fixedWindow({ permits: 10, interval: 5000, align }));
  algebra.roll(state, start, 0);
  algebra.commit(state, start, start, 10);
  assert.is(algebra.earliest(state, start, start, 5), start + 5000);
  algebra.commit(state, start, start + 5000, 5);
  algebra.roll(state, start + 1, 0);
  return state;
}

for (const align of ['first', 'epoch'] as const) {
  test(`${align}: refunded permits of a window are free once nothing is reserved in the next`, () => {
    const state = reservedWindow(align);
    assert.is(algebra.refund(state, start + 1, start + 5000, 5), 5);
    assert.is(algebra.refund(state, start + 1, start, 9), 9);
    assert.is(algebra.available(state, start + 1, start + 1), 9);
    assert.is(algebra.earliest(state, start + 1, start + 1, 9), start + 1);
    assert.is(algebra.earliest(state, start + 1, start + 1, 10), start + 5000);
  });

  test(`${align}: the same in the other order, and when all permits are refunded`, () => {
    const state = reservedWindow(align);
    assert.is(algebra.refund(state, start + 1, start, 10), 10);
    assert.is(algebra.refund(state, start + 1, start, 1), 0);
    // A request does not overtake reservations.
    assert.is(algebra.earliest(state, start + 1, start + 1, 1), start + 5000);
    assert.is(algebra.refund(state, start + 1, start + 5000, 5), 5);
    assert.is(algebra.available(state, start + 1, start + 1), 10);
  });

  test(`${align}: a release takes from the window before the reserved one`, () => {
    const state = reservedWindow(align);
    assert.is(algebra.release(state, start + 1, start + 1, 12), 10);
    algebra.refund(state, start + 1, start + 5000, 5);
    assert.is(algebra.available(state, start + 1, start + 1), 10);
  });

  test(`${align}: if the reserved window is voided, the one before it is unchanged`, () => {
    const state = reservedWindow(align);
    assert.is(algebra.refund(state, start + 1, start, 4), 4);
    algebra.cut(state, start + 1, start + 2001);
    assert.is(algebra.available(state, start + 1, start + 1), 4);
    assert.is(algebra.earliest(state, start + 1, start + 1, 5), start + 5000);
  });

  test(`${align}: a window that has ended refunds nothing`, () => {
    const state = reservedWindow(align);
    algebra.roll(state, start + 5000, 0);
    assert.is(algebra.refund(state, start + 5000, start, 10), 0);
    assert.is(algebra.available(state, start + 5000, start + 5000), 5);
    assert.is(algebra.refund(state, start + 5000, start + 5000, 5), 5);
    assert.is(algebra.available(state, start + 5000, start + 5000), 10);
  });
}

/** A used window, and five permits reserved two windows after its end. */
function reservedFar(align: 'first' | 'epoch'): FixedWindowState {
  const state = algebra.create(fixedWindow({ permits: 10, interval: 5000, align }));
  algebra.roll(state, start, 0);
  algebra.commit(state, start, start, 10);
  algebra.commit(state, start, start + 15_000, 5);
  return state;
}

function hasGap(state: FixedWindowState, at: number, n: number): boolean {
  algebra.roll(state, at, 0);
  return algebra.hasGap(state, at, at, n, Infinity, true);
}

for (const [align, last] of [
  ['first', start + 10_000],
  ['epoch', start + 14_998],
] as const)
  test(`${align}: another window is granted before the reserved one, if it ends before it`, () => {
    for (const at of [start + 5000, last]) {
      const state = reservedFar(align);
      assert.not(hasGap(state, start + 4999, 1));
      assert.ok(hasGap(state, at, 10));
      // Within an interval before it, the reserved window itself may start earlier.
      if (align === 'first') assert.ok(!hasGap(state, last + 1, 6) && hasGap(state, last + 1, 5));
    }
    const state = reservedFar(align);
    assert.ok(hasGap(state, start + 6000, 10));
    algebra.commit(state, start + 6000, start + 6000, 7);
    assert.ok(hasGap(state, start + 6001, 3));
    assert.not(hasGap(state, start + 6001, 4));
    assert.is(algebra.refund(state, start + 6001, start + 6000, 2), 2);
    assert.ok(hasGap(state, start + 6001, 5));
    // The reserved window is as it was.
    assert.is(algebra.earliest(state, start + 6001, start + 6001, 5), start + 15_000);
    assert.is(algebra.earliest(state, start + 6001, start + 6001, 6), start + 20_000);
    algebra.cut(state, start + 6001, start + 8000);
    assert.is(algebra.available(state, start + 6001, start + 6001), 5);
  });

test('off the grid, a reserved window starts earlier if its reservations are less than an interval ahead', () => {
  const at = start + 11_000;
  const state = reservedFar('first');
  algebra.commit(state, start, at + 5000, 1);
  // A window that starts now ends before the last reservation.
  assert.not(hasGap(state, at, 1));
  assert.ok(hasGap(state, at + 1, 4));
  algebra.commit(state, at + 1, at + 1, 4);
  assert.not(hasGap(state, at + 2, 1));
  assert.is(algebra.earliest(state, at + 2, at + 2, 1), at + 5001);
  assert.is(algebra.refund(state, at + 2, at + 1, 3), 3);
  assert.is(algebra.refund(state, at + 2, start + 15_000, 5), 5);
  assert.is(algebra.available(state, at + 2, at + 2), 8);
});

test('of windows that overlap after a longer interval, none starts earlier if it ended behind the next one', () => {
  const state = algebra.create(fixedWindow({ permits: 10, interval: 100 }));
  algebra.roll(state, start, 0);
  algebra.commit(state, start, start, 10);
  algebra.commit(state, start, start + 500, 1);
  algebra.commit(state, start, start + 600, 10);
  algebra.adopt(state, fixedWindow({ permits: 10, interval: 300 }), 0);
  assert.not(hasGap(state, start + 301, 1));
  assert.ok(hasGap(state, start + 300, 9));
});

/** A window of which all permits are granted, and so many windows behind it, of which all are reserved. */
function reservedMany(align: 'first' | 'epoch', count: number): FixedWindowState {
  const state = algebra.create(fixedWindow({ permits: 10, interval: 5000, align }));
  algebra.roll(state, start, 0);
  algebra.commit(state, start, start, 10);
  for (let i = 1; i <= count; i++) algebra.commit(state, start, start + 5000 * i, 10);
  return state;
}

for (const align of ['first', 'epoch'] as const) {
  test(`${align}: what comes back to a window is granted there, whatever is reserved in 16 windows behind it`, () => {
    for (const count of [1, 2, 16]) {
      const state = reservedMany(align, count);
      assert.is(algebra.refund(state, start + 1, start, 4), 4);
      assert.ok(hasGap(state, start + 2, 4), `${count} windows`);
      assert.not(hasGap(state, start + 2, 5), `${count} windows`);
      algebra.commit(state, start + 2, start + 2, 4);
      assert.not(hasGap(state, start + 3, 1), `${count} windows`);
      // All of it, too: the window goes on until its end.
      assert.is(algebra.refund(state, start + 3, start, 10), 10);
      assert.ok(hasGap(state, start + 4999, 10), `${count} windows`);
      assert.is(algebra.earliest(state, start + 4999, start + 4999, 1), start + 5000 * (count + 1));
    }
  });

  test(`${align}: a cancelled reservation comes back to any of the windows, and to the next ones once they are empty`, () => {
    const state = reservedMany(align, 3);
    assert.is(algebra.refund(state, start, start + 10_000, 10), 10);
    assert.is(algebra.refund(state, start, start + 5000, 3), 3);
    assert.is(algebra.earliest(state, start, start, 1), start + 20_000);
    assert.is(algebra.refund(state, start, start + 15_000, 10), 10);
    assert.is(algebra.earliest(state, start, start, 3), start + 5000);
    assert.is(algebra.earliest(state, start, start, 4), start + 10_000);
    assert.ok(hasGap(state, start + 5000, 3));
  });

  test(`${align}: if the reservations of several windows are void, the one before them is unchanged`, () => {
    const state = reservedMany(align, 4);
    assert.is(algebra.refund(state, start, start + 5000, 4), 4);
    algebra.cut(state, start, start + 7000);
    assert.is(algebra.earliest(state, start, start, 4), start + 5000);
    assert.is(algebra.earliest(state, start, start, 5), start + 10_000);
    algebra.cut(state, start, start + 1);
    assert.is(algebra.earliest(state, start, start, 1), start + 5000);
  });

  test(`${align}: of more than 16 windows before the last, the first ones count as full`, () => {
    const state = reservedMany(align, 17);
    assert.is(algebra.refund(state, start, start, 10), 0);
    assert.not(hasGap(state, start + 1, 1));
    assert.is(algebra.refund(state, start, start + 10_000, 10), 10);
    algebra.cut(state, start, start + 12_000);
    // Nothing is known before the third window.
    assert.is(algebra.earliest(state, start, start, 1), start + 10_000);
    // A full window is assumed, which ends an interval after what is valid at the latest.
    algebra.cut(state, start, start + 1);
    assert.is(algebra.earliest(state, start, start, 1), start + (align === 'first' ? 5001 : 5000));
  });
}

test('grants of another limit that count at a later moment leave no window before it free', () => {
  for (const align of ['first', 'epoch'] as const) {
    const limit = fixedWindow({ permits: 10, interval: 5000, align });
    const state = startWith(limit, 4, start + 15_000, start, 0) as FixedWindowState;
    assert.not(hasGap(state, start, 1), align);
    assert.not(hasGap(state, start + 6000, 1), align);
  }
});

test('a window that has just ended by a shorter interval releases nothing', () => {
  const state = algebra.create(fixedWindow({ permits: 10, interval: 5000 }));
  algebra.roll(state, start, 0);
  algebra.commit(state, start, start, 10);
  algebra.adopt(state, fixedWindow({ permits: 10, interval: 2000 }), 0);
  assert.is(algebra.release(state, start + 1999, start + 1999, 4), 4);
  assert.is(algebra.release(state, start + 2000, start + 2000, 4), 0);
});

test.run();
