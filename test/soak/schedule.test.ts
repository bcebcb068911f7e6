import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { calm, scheduleOf } from './schedule.ts';

test('the faults follow from the seed, are in order, and leave out the end of the run', () => {
  const schedule = scheduleOf(7, 120_000, 8);
  assert.equal(scheduleOf(7, 120_000, 8), schedule);
  assert.not.equal(scheduleOf(8, 120_000, 8), schedule);
  assert.is(new Set(schedule.map(({ kind }) => kind)).size, 9);
  for (const [i, { at, lasts, place }] of schedule.entries()) {
    assert.ok(at < 120_000 - calm && (i === 0 || at > schedule[i - 1].at + schedule[i - 1].lasts));
    assert.ok(place >= 0 && place < 8 && lasts > 0);
  }
});

test.run();
