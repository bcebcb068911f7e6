import { getEventListeners } from 'node:events';
import sinon from 'sinon';
import * as assert from 'uvu/assert';
import { LimiterClosedError, permits$, RateType } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { redissonSuite } from './redissonSuite.ts';

const test = redissonSuite('closing');

const minute = 60_000;

/** The timers set from now on that have neither fired nor been cleared. */
function watchTimers(): Set<unknown> {
  const { setTimeout, clearTimeout } = globalThis;
  const timers = new Set<unknown>();
  sinon.replace(globalThis, 'setTimeout', ((work: () => void, ms: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, ms);
    timers.add(timer);
    return timer;
  }) as typeof setTimeout);
  sinon.replace(globalThis, 'clearTimeout', (timer) => {
    timers.delete(timer);
    clearTimeout(timer);
  });
  return timers;
}

test.after.each(() => sinon.restore());

test('closing ends every wait at once, and leaves no timer and no listener', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 1, 10 * minute);
  await limiter.acquire();
  const { signal } = new AbortController();
  const timers = watchTimers();
  const ended = [
    // It cannot be granted in time, and would resolve to false at its timeout.
    limiter.tryAcquire(1, minute),
    limiter.tryAcquire(1, 2 * minute),
    limiter.tryAcquire(1, 20 * minute),
    limiter.acquire(1, { timeout: 20 * minute }),
    limiter.acquire(1, { signal }),
    new Promise((_, reject) => permits$(limiter).subscribe({ error: reject })),
  ].map(rejection);
  // A call over the same connection: all of them have been answered by then.
  await limiter.availablePermits();
  assert.ok(timers.size >= 3);
  assert.is(getEventListeners(signal, 'abort').length, 1);
  await limiter.close();
  assert.is(timers.size, 0);
  assert.is(getEventListeners(signal, 'abort').length, 0);
  for (const error of await Promise.all(ended)) assert.instance(error, LimiterClosedError);
  assert.is(timers.size, 0);
});

test.run();
