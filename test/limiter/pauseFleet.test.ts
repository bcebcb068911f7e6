import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { ask, sharing } from './sharing.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });
/** Permits so far apart that all limiters receive a pause between two of them. */
const slow = slidingWindow({ permits: 1, interval: 3000, resolution: 1 });
const calls = (limiters: ReturnType<typeof sharing>) => limiters.map((limiter) => limiter.stats().calls);

timed('another limiter of the store grants nothing during a pause', async (clock) => {
  const [a, b] = sharing(limit, limit);
  await a.pauseFor(700);
  assert.not(await b.tryAcquire());
  assert.is(await b.availablePermits(), 0);
  assert.is((await b.decide()).retryAfter, 700);
  const [fate] = ask(b, 1);
  await clock.tickAsync(700);
  assert.is(fate.at, 700);
});

timed(
  'what is reserved by another limiter is held within two seconds, and keeps its order',
  async (clock) => {
    const [a, b] = sharing(slow, slow);
    const fates = ask(b, 3);
    assert.is(b.stats().reserved, 1);
    await clock.tickAsync(100);
    await a.pauseFor(10_000);
    await clock.tickAsync(30_000);
    // The reservation at 3000 was made again by then.
    assert.equal(times(fates), [0, 10_100, 13_100]);
  },
);

timed(
  'a request of another limiter whose timeout ends before the pause is rejected within two seconds',
  async (clock) => {
    const [a, b] = sharing(slow, slow);
    await b.acquire();
    const [hurried, patient] = [4000, Infinity].map((timeout) => fateOf(b.acquire(1, { timeout })));
    await clock.tickAsync(100);
    await a.pauseFor(10_000);
    await clock.tickAsync(2000);
    assert.instance(hurried.reason, AcquireTimeoutError);
    assert.ok(hurried.at! <= 2100);
    await clock.tickAsync(10_000);
    assert.is(patient.at, 10_100);
  },
);

timed(
  'waiting requests of another limiter continue within two seconds after a pause was lifted',
  async (clock) => {
    const [a, b] = sharing(limit, limit);
    await a.pauseFor(3_600_000);
    const fates = ask(b, 5);
    await clock.tickAsync(10_500);
    await a.reset();
    await clock.tickAsync(2000);
    for (const { at } of fates) assert.ok(at! >= 10_500 && at! <= 12_500, `${at}`);
  },
);

timed('the later end counts, whichever limiter pauses', async (clock) => {
  const [a, b] = sharing(limit, limit);
  await Promise.all([a.pauseFor(3000), b.pauseFor(1000)]);
  const fates = [...ask(a, 1), ...ask(b, 1)];
  await clock.tickAsync(5000);
  assert.equal(times(fates), [3000, 3000]);
});

timed('a pause costs each limiter with waiting requests one call in 1.5 s, and one timer', async (clock) => {
  const limiters = sharing(limit, limit);
  const [a, b] = limiters;
  for (const limiter of limiters) ask(limiter, 10);
  await clock.tickAsync(0);
  const [callsA, callsB] = calls(limiters);
  await a.pauseFor(60_000);
  await clock.tickAsync(59_000);
  assert.is(clock.countTimers(), 2);
  const asked = calls(limiters);
  // 59 seconds, and a few calls that receive the pause.
  for (const [i, before] of [callsA, callsB].entries()) {
    assert.ok(asked[i] - before >= 38, `${asked[i] - before} calls: the pause might not be lifted`);
    assert.ok(asked[i] - before <= 39 + 6, `${asked[i] - before} calls`);
  }
  await b.reset();
  await clock.tickAsync(30_000);
  assert.is(a.stats().granted + b.stats().granted, 20);
  assert.is(clock.countTimers(), 0);
});

timed('a limiter that is alone on its store needs no calls for changes', async (clock) => {
  const alone = new RateLimiter({ name: 'api', limit: slow });
  const fates = ask(alone, 2);
  await alone.pauseFor(60_000);
  const { calls } = alone.stats();
  await clock.tickAsync(59_999);
  assert.is(alone.stats().calls, calls);
  await clock.tickAsync(1);
  assert.equal(times(fates), [0, 60_000]);
  assert.is(clock.countTimers(), 0);
});

test.run();
