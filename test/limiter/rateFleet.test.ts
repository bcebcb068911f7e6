import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { timed, times } from '../support/fakeTime.ts';
import { ask, sharing } from './sharing.ts';

const hour = 3_600_000;
/** So slow that reservations are an hour ahead. */
const slow: [string, Limit][] = [
  ['a sliding window', slidingWindow({ permits: 5, interval: hour })],
  ['a fixed window', fixedWindow({ permits: 5, interval: hour })],
  ['a token bucket', tokenBucket({ permits: 5, interval: hour })],
];
const fast: [string, Limit][] = [
  ['a sliding window', slidingWindow({ permits: 500, interval: 1000 })],
  ['a fixed window', fixedWindow({ permits: 500, interval: 1000 })],
  ['a token bucket', tokenBucket({ permits: 500, interval: 1000 })],
];
const calls = (limiters: RateLimiter[]) => limiters.map((limiter) => limiter.stats().calls);

for (const [before, from] of slow)
  for (const [after, to] of fast)
    timed(
      `a raised rate reaches all waiting requests within two seconds, without a storm: ${before} to ${after}`,
      async (clock) => {
        const limiters = sharing(from, from);
        const [a, b] = limiters;
        await a.acquire(5);
        const [fatesA, fatesB] = [ask(a, 30), ask(b, 30)];
        await clock.tickAsync(700);
        const before = calls(limiters);
        await a.setRate(to);
        await clock.tickAsync(2500);
        // In each limiter, requests are granted in their order.
        for (const fates of [fatesA, fatesB]) {
          const moments = times(fates);
          assert.ok(
            moments.every((at) => at !== undefined && at >= 700 && at <= 2900),
            moments.join(),
          );
          assert.equal(
            moments,
            [...moments].sort((x, y) => x! - y!),
          );
        }
        for (const [i, asked] of calls(limiters).entries())
          assert.ok(asked - before[i] <= 12, `${asked - before[i]} calls`);
        assert.is(clock.countTimers(), 0);
      },
    );

timed('waiting requests keep their places while a rate changes again and again', async (clock) => {
  const limiters = sharing(slow[0][1], slow[0][1]);
  const orders = limiters.map(() => [] as number[]);
  for (const [k, limiter] of limiters.entries())
    for (let i = 0; i < 40; i++)
      limiter.acquire(1 + (i % 3)).then(() => orders[k].push(i), assert.unreachable);
  for (const limit of [...fast, ...slow, ...fast, ...slow].map(([, limit]) => limit)) {
    await clock.tickAsync(350);
    await limiters[1].setRate(limit);
  }
  await clock.tickAsync(3000);
  await limiters[0].setRate(fast[0][1]);
  await clock.tickAsync(5000);
  for (const order of orders)
    assert.equal(
      order,
      Array.from({ length: 40 }, (_, i) => i),
    );
});

timed('a rate that is stored while no request waits costs no call', async (clock) => {
  const [a, b] = sharing(slow[0][1], slow[0][1]);
  await a.setRate(fast[0][1]);
  await clock.tickAsync(10_000);
  assert.equal(calls([a, b]), [0, 0]);
  assert.is(clock.countTimers(), 0);
});

timed('delete puts the own limits in force for waiting requests', async (clock) => {
  const own = slidingWindow({ permits: 20, interval: 1000 });
  const [a, b] = sharing(slow[0][1], own);
  await a.trySetRate(slow[0][1]);
  await a.acquire(5);
  const fates = ask(b, 20);
  await clock.tickAsync(5500);
  await a.delete();
  await clock.tickAsync(3000);
  for (const { at } of fates) assert.ok(at! >= 5500 && at! <= 7500 + 1000, `${at}`);
});

test.run();
