// Waits until a time, which a limiter that is closed ends.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { monotonicClock } from '../../src/clock.ts';
import { DeadlineTimer } from '../../src/redisson/deadlineTimer.ts';
import { rejection } from '../support/badInput.ts';

test('after its end, it also rejects new waits', async () => {
  const clock = monotonicClock();
  const timer = new DeadlineTimer(clock);
  const closed = new Error('closed');
  const waits = rejection(timer.until(clock.now() + 60_000));
  timer.end(closed);
  assert.is(await waits, closed);
  // A request whose refusal arrived with the one that closed the limiter.
  assert.is(await rejection(timer.until(clock.now() + 60_000)), closed);
});

test.run();
