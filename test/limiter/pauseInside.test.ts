import { from, mergeMap, type Observable, range } from 'rxjs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { permits$ } from '../../src/creation/permits.ts';
import type { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { throttleDistributed } from '../../src/operators/throttleDistributed.ts';
import { timed } from '../support/fakeTime.ts';
import { sharing } from './sharing.ts';

const window = slidingWindow({ permits: 5, interval: 1000, resolution: 1 });

const streams: [string, (limiter: RateLimiter) => Observable<number>][] = [
  ['throttleDistributed', (limiter) => range(0, 8).pipe(throttleDistributed(limiter))],
  [
    'throttleDistributed with permits for each value',
    (limiter) => range(0, 8).pipe(throttleDistributed(limiter, { permits: () => 1 })),
  ],
  [
    'throttleDistributed with project',
    (limiter) => range(0, 8).pipe(throttleDistributed(limiter, { project: (value) => value })),
  ],
  [
    'permits$',
    (limiter) => from(range(0, 8)).pipe(mergeMap((i) => permits$(limiter).pipe(mergeMap(() => [i])))),
  ],
];

/** The time of each value of a stream whose value `pauseAt` pauses the fleet for 2,500 ms. */
async function run(
  clock: { tickAsync(ms: number): Promise<unknown> },
  limit: Limit,
  stream: (limiter: RateLimiter) => Observable<number>,
  pauseAt: number,
) {
  const [limiter] = sharing(limit);
  const rows: [number, number][] = [];
  let completed = false;
  stream(limiter).subscribe({
    next: (value) => {
      rows.push([value, performance.now()]);
      if (value === pauseAt) void limiter.pauseFor(2500);
    },
    complete: () => {
      completed = true;
    },
  });
  await clock.tickAsync(20_000);
  assert.ok(completed);
  return rows;
}

for (const [operator, stream] of streams) {
  timed(`a pause for a value delays the next value of the same turn: ${operator}`, async (clock) => {
    const rows = await run(clock, window, stream, 2);
    assert.equal(rows, [
      [0, 0],
      [1, 0],
      [2, 0],
      [3, 2500],
      [4, 2500],
      [5, 2500],
      [6, 2500],
      [7, 2500],
    ]);
  });

  timed(`a pause for a value delays the reservations behind it: ${operator}`, async (clock) => {
    const rows = await run(clock, tokenBucket({ permits: 5, interval: 1000 }), stream, 5);
    // Value 5 came at 200 and paused the fleet until 2700; by then the bucket is full.
    assert.equal(rows.slice(5), [
      [5, 200],
      [6, 2700],
      [7, 2700],
    ]);
  });
}

timed('several values may lengthen a pause', async (clock) => {
  const [limiter] = sharing(leakyBucket({ permits: 5, interval: 1000 }));
  const times: number[] = [];
  range(0, 6)
    .pipe(throttleDistributed(limiter))
    .subscribe(() => {
      times.push(performance.now());
      void limiter.pauseFor(1000);
      void limiter.pauseFor(10);
    });
  await clock.tickAsync(10_000);
  assert.equal(times, [0, 1000, 2000, 3000, 4000, 5000]);
});

timed('unsubscribing during a pause leaves nothing', async (clock) => {
  const [limiter] = sharing(window);
  const seen: number[] = [];
  const subscription = range(0, 20)
    .pipe(throttleDistributed(limiter))
    .subscribe((value) => {
      seen.push(value);
      if (value === 6) void limiter.pauseFor(60_000);
    });
  await clock.tickAsync(5000);
  assert.equal(seen, [0, 1, 2, 3, 4, 5, 6]);
  subscription.unsubscribe();
  assert.is(clock.countTimers(), 0);
  await clock.tickAsync(60_000);
  assert.is(seen.length, 7);
  assert.is(await limiter.availablePermits(), 5);
});

test.run();
