// Code of the user that runs while a grant is handed out: it cancels requests, makes new ones, pauses, closes.
import { setTimeout as sleep } from 'node:timers/promises';
import { filter, merge, mergeMap, of, race, range, skip, take, takeUntil, toArray } from 'rxjs';
import * as assert from 'uvu/assert';
import {
  acquirePermits,
  fromThrottled,
  permits$,
  RateLimiter,
  slidingWindow,
  throttleDistributed,
} from '../../src/index.ts';
import { until } from '../support/until.ts';
import { type OnRedis, redisSuite } from './redisSuite.ts';

const test = redisSuite('handlers of grants');
const limit = slidingWindow({ permits: 10, interval: 60_000 });

/** Runs a test with a limiter of each store whose limits are known. */
function onBoth(title: string, run: (limiter: RateLimiter) => Promise<void>): void {
  for (const store of ['memory', 'Redis'])
    test(`${title}: ${store}`, async ({ redis }: OnRedis) => {
      const limiter = new RateLimiter({ name: 'n', limit, redis: store === 'Redis' ? redis : undefined });
      await limiter.decide();
      await run(limiter);
      await limiter.close();
    });
}

onBoth('a request that is made as the first of two grants cancels the other is granted', async (limiter) => {
  let inHandler: Promise<unknown> | undefined;
  permits$(limiter).subscribe(() =>
    race(permits$(limiter), permits$(limiter)).subscribe(() => {
      inHandler = limiter.acquire();
    }),
  );
  race(permits$(limiter), permits$(limiter)).subscribe();
  await until('it is made', async () => inHandler !== undefined);
  await inHandler;
  assert.is(limiter.stats().queued, 0);
});

onBoth('requests that a handler cancels leave the queue once', async (limiter) => {
  for (let i = 0; i < 3; i++)
    merge(permits$(limiter), permits$(limiter), permits$(limiter)).pipe(take(1)).subscribe();
  await until('all are granted', async () => limiter.stats().granted >= 4);
  await sleep(50);
  assert.is(limiter.stats().queued, 0);
  assert.is(await limiter.availablePermits(), 10 - 1 - 3);
});

onBoth('a value whose permit another one has won is emitted once', async (limiter) => {
  const values = race(of(1).pipe(acquirePermits(limiter)), of(2).pipe(acquirePermits(limiter))).pipe(
    mergeMap((value) => of(value).pipe(acquirePermits(limiter))),
    toArray(),
  );
  const emitted: number[][] = [];
  values.subscribe((all) => emitted.push(all));
  await until('it is emitted', async () => emitted.length > 0);
  assert.equal(emitted, [[1]]);
});

onBoth('a pause in a handler holds the next grant of the same reply', async (limiter) => {
  const granted: number[] = [];
  for (let i = 0; i < 2; i++)
    permits$(limiter).subscribe(() => {
      granted.push(performance.now());
      void limiter.pauseFor(300);
    });
  await until('both are granted', async () => granted.length === 2);
  assert.ok(granted[1] - granted[0] >= 290, `${granted[1] - granted[0]} ms`);
});

for (const [what, valuesOf] of [
  ['throttleDistributed', (limiter: RateLimiter) => range(1, 6).pipe(throttleDistributed(limiter))],
  ['fromThrottled', (limiter: RateLimiter) => fromThrottled([1, 2, 3, 4, 5, 6], limiter)],
] as const)
  onBoth(`an event that ends ${what} gives its permit back`, async (limiter) => {
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
    await until('it is over', async () => isOver);
    await sleep(50);
    // One more was taken by the first call of the limiter.
    assert.is(await limiter.availablePermits(), 10 - 1 - emitted.length);
  });

test.run();
