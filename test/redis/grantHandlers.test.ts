// Code of the user that runs while a grant is handed out: it cancels requests, makes new ones, pauses, closes.
import { setTimeout as sleep } from 'node:timers/promises';
import { filter, merge, mergeMap, of, race, range, skip, take, takeUntil, toArray } from 'rxjs';
import { test as inMemory } from 'uvu';
import * as assert from 'uvu/assert';
import {
  acquirePermits,
  fromThrottled,
  permits$,
  RateLimiter,
  slidingWindow,
  throttleDistributed,
} from '../../src/index.ts';
import { timed } from '../support/fakeTime.ts';
import { until } from '../support/until.ts';
import { type OnRedis, redisSuite } from './redisSuite.ts';

const test = redisSuite('handlers of grants');
/** So many that a call asks for several requests at once. */
const permits = 100;
const limit = slidingWindow({ permits, interval: 60_000 });

/** How a test waits: for what is to hold, or for so many milliseconds. */
interface Waits {
  until(what: string, holds: () => boolean): Promise<unknown>;
  pass(ms: number): Promise<unknown>;
}

const onServer: Waits = { until: (what, holds) => until(what, async () => holds()), pass: sleep };

/** Runs a test with a limiter of each store that has been granted a permit: in memory, on a fake clock. */
function onBoth(title: string, run: (limiter: RateLimiter, waits: Waits) => Promise<void>): void {
  const runOn = async (limiter: RateLimiter, waits: Waits) => {
    await limiter.acquire();
    await run(limiter, waits);
    await limiter.close();
  };
  timed(`${title}: memory`, (clock) =>
    runOn(new RateLimiter({ name: 'n', limit }), {
      async until(what, holds) {
        for (let ms = 0; ms < 1000 && !holds(); ms++) await clock.tickAsync(1);
        assert.ok(holds(), what);
      },
      pass: (ms) => clock.tickAsync(ms),
    }),
  );
  test(`${title}: Redis`, ({ redis }: OnRedis) =>
    runOn(new RateLimiter({ name: 'n', limit, redis }), onServer));
}

onBoth(
  'a request that is made as the first of two grants cancels the other is granted',
  async (limiter, { until }) => {
    const made: Promise<unknown>[] = [];
    const ask = () =>
      race(permits$(limiter), permits$(limiter)).subscribe(() => made.push(limiter.acquire()));
    ask();
    await until('it is made', () => made.length === 1);
    // In memory, a limiter replies later only to a request that is made in a handler.
    permits$(limiter).subscribe(ask);
    await until('another one is made', () => made.length === 2);
    let granted = 0;
    for (const request of made) void request.then(() => granted++);
    await until('both are granted', () => granted === 2);
    assert.is(limiter.stats().queued, 0);
  },
);

onBoth('requests that a handler cancels leave the queue once', async (limiter, { until, pass }) => {
  for (let i = 0; i < 3; i++)
    merge(permits$(limiter), permits$(limiter), permits$(limiter)).pipe(take(1)).subscribe();
  await until('all are granted', () => limiter.stats().granted >= 4);
  await pass(50);
  assert.is(limiter.stats().queued, 0);
  assert.is(await limiter.availablePermits(), permits - 1 - 3);
});

onBoth('a value whose permit another one has won is emitted once', async (limiter, { until }) => {
  const values = race(of(1).pipe(acquirePermits(limiter)), of(2).pipe(acquirePermits(limiter))).pipe(
    mergeMap((value) => of(value).pipe(acquirePermits(limiter))),
    toArray(),
  );
  const emitted: number[][] = [];
  values.subscribe((all) => emitted.push(all));
  await until('it is emitted', () => emitted.length > 0);
  assert.equal(emitted, [[1]]);
});

onBoth('a pause in a handler holds the next grant of the same reply', async (limiter, { until }) => {
  const granted: number[] = [];
  for (let i = 0; i < 2; i++)
    permits$(limiter).subscribe(() => {
      granted.push(performance.now());
      void limiter.pauseFor(300);
    });
  await until('both are granted', () => granted.length === 2);
  assert.ok(granted[1] - granted[0] >= 290, `${granted[1] - granted[0]} ms`);
});

for (const [what, valuesOf] of [
  ['throttleDistributed', (limiter: RateLimiter) => range(1, 6).pipe(throttleDistributed(limiter))],
  ['fromThrottled', (limiter: RateLimiter) => fromThrottled([1, 2, 3, 4, 5, 6], limiter)],
] as const)
  onBoth(`an event that ends ${what} gives its permit back`, async (limiter, { until, pass }) => {
    const third = limiter.events$.pipe(
      filter(({ type }) => type === 'granted'),
      skip(2),
    );
    const emitted: number[] = [];
    let isOver = false;
    valuesOf(limiter)
      .pipe(takeUntil(third))
      .subscribe({
        next: (value) => emitted.push(value),
        complete: () => {
          isOver = true;
        },
      });
    await until('it is over', () => isOver);
    await pass(50);
    // One more was granted before.
    assert.is(await limiter.availablePermits(), permits - 1 - emitted.length);
  });

inMemory.run();
test.run();
