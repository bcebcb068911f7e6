import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindowAlgebra as algebra, type FixedWindowState } from '../../src/limits/fixedWindow.ts';
import { fixedWindow } from '../../src/limits/limit.ts';

const start = 1_000_000;

/** All of the window at the start, and five of the next one. */
function booked(align: 'first' | 'epoch'): FixedWindowState {
  const state = algebra.create(fixedWindow({ permits: 10, interval: 5000, align }));
  algebra.roll(state, start, 0);
  algebra.commit(state, start, start, 10);
  assert.is(algebra.earliest(state, start, start, 5), start + 5000);
  algebra.commit(state, start, start + 5000, 5);
  algebra.roll(state, start + 1, 0);
  return state;
}

for (const align of ['first', 'epoch'] as const) {
  test(`${align}: what is given back of a window is free once nothing is booked in the next`, () => {
    const state = booked(align);
    assert.is(algebra.refund(state, start + 1, start + 5000, 5), 5);
    assert.is(algebra.refund(state, start + 1, start, 9), 9);
    assert.is(algebra.available(state, start + 1, start + 1), 9);
    assert.is(algebra.earliest(state, start + 1, start + 1, 9), start + 1);
    assert.is(algebra.earliest(state, start + 1, start + 1, 10), start + 5000);
  });

  test(`${align}: the other way round, too, and when all is given back`, () => {
    const state = booked(align);
    assert.is(algebra.refund(state, start + 1, start, 10), 10);
    assert.is(algebra.refund(state, start + 1, start, 1), 0);
    // Nobody passes what is booked.
    assert.is(algebra.earliest(state, start + 1, start + 1, 1), start + 5000);
    assert.is(algebra.refund(state, start + 1, start + 5000, 5), 5);
    assert.is(algebra.available(state, start + 1, start + 1), 10);
  });

  test(`${align}: a release takes from the window before the booked one`, () => {
    const state = booked(align);
    assert.is(algebra.release(state, start + 1, start + 1, 12), 10);
    algebra.refund(state, start + 1, start + 5000, 5);
    assert.is(algebra.available(state, start + 1, start + 1), 10);
  });

  test(`${align}: where the booked window is void, the one before it is as it was`, () => {
    const state = booked(align);
    assert.is(algebra.refund(state, start + 1, start, 4), 4);
    algebra.cut(state, start + 1, start + 2001);
    assert.is(algebra.available(state, start + 1, start + 1), 4);
    assert.is(algebra.earliest(state, start + 1, start + 1, 5), start + 5000);
  });

  test(`${align}: a window that is over gives nothing back`, () => {
    const state = booked(align);
    algebra.roll(state, start + 5000, 0);
    assert.is(algebra.refund(state, start + 5000, start, 10), 0);
    assert.is(algebra.available(state, start + 5000, start + 5000), 5);
    assert.is(algebra.refund(state, start + 5000, start + 5000, 5), 5);
    assert.is(algebra.available(state, start + 5000, start + 5000), 10);
  });
}

test.run();
