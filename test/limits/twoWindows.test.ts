import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindowAlgebra as algebra, type FixedWindowState } from '../../src/limits/fixedWindow.ts';
import { fixedWindow } from '../../src/limits/limit.ts';

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

test('a window that has just ended by a shorter interval releases nothing', () => {
  const state = algebra.create(fixedWindow({ permits: 10, interval: 5000 }));
  algebra.roll(state, start, 0);
  algebra.commit(state, start, start, 10);
  algebra.adopt(state, fixedWindow({ permits: 10, interval: 2000 }), 0);
  assert.is(algebra.release(state, start + 1999, start + 1999, 4), 4);
  assert.is(algebra.release(state, start + 2000, start + 2000, 4), 0);
});

test.run();
