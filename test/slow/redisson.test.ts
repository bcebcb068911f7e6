// Long scenarios of Redisson, by their numbers; the others are in test/conformance.
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { checkBounded } from '../redisson/bounded.ts';
import { watchGrants } from '../redisson/grants.ts';
import { redissonSuite } from '../redisson/redissonSuite.ts';

const test = redissonSuite('redisson, slow');

test('3. fill: 10,000 per 10 s, 200 callers: exactly 10,000 in each window of 10 s', async ({
  ours,
  redis,
}) => {
  const [rate, interval, windows] = [10_000, 10_000, 3];
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, rate, interval);
  const { grants, stop } = await watchGrants(redis);
  let hungry = true;
  const caller = async () => {
    while (hungry) await limiter.acquire();
  };
  const callers = Promise.allSettled(Array.from({ length: 200 }, caller));
  // The last window's permits come at its beginning, a window after the first ones.
  await sleep((windows - 0.4) * interval);
  hungry = false;
  await limiter.close();
  await callers;
  await stop();

  const moments = grants.flatMap(({ at, n }) => Array<number>(n).fill(at));
  const first = moments[0];
  const counts = Array.from(
    { length: windows },
    (_, i) => moments.filter((t) => t >= first + i * interval && t < first + (i + 1) * interval).length,
  );
  assert.equal(counts, Array(windows).fill(rate));
  const shortest = moments.slice(rate).reduce((least, t, i) => Math.min(least, t - moments[i]), Infinity);
  assert.ok(shortest >= interval, `${rate + 1} within ${shortest} ms`);
});

test('12. 1 per 2 s: ten acquires take nine intervals, and then no permit is left', async ({ ours }) => {
  const interval = 2_000;
  const limiter = ours();
  assert.ok(await limiter.trySetRate(RateType.OVERALL, 1, interval));
  const start = performance.now();
  for (let i = 0; i < 10; i++) await limiter.acquire(1);
  const took = performance.now() - start;
  assert.not(await limiter.tryAcquire());
  assert.ok(took >= 9 * interval - 2 && took < 10 * interval, `${took} ms`);
});

test('with a million entries of one moment, no call reads all of them', ({ ours, redis }) =>
  checkBounded(ours(), redis, 1_000_000));

test.run();
