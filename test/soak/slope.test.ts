import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Sample, steepest } from './slope.ts';

/** Samples of one second each that grow by so many megabytes a minute, after a start that grows by more. */
function growing(seconds: number, perMinute: number): Sample[] {
  return Array.from({ length: seconds }, (_, i): Sample => {
    const start = 10 * Math.min(i, Math.floor(seconds / 3));
    return [i * 1_000, (start + (perMinute * i) / 60) * 2 ** 20];
  });
}

test('finds the steepest growth, without the start of each series', () => {
  assert.ok(Math.abs(steepest([growing(300, 2), growing(300, 3), growing(300, -1)])! - 3) < 0.01);
});

test('a series of less than a minute counts only if no other is longer', () => {
  assert.ok(Math.abs(steepest([growing(300, 2), growing(40, 9)])! - 2) < 0.01);
  assert.ok(Math.abs(steepest([growing(20, 2), growing(40, 9)])! - 9) < 0.01);
});

test('is undefined for series that are too short', () => {
  assert.is(steepest([]), undefined);
  assert.is(steepest([[], growing(12, 2)]), undefined);
});

test.run();
