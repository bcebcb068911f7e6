import { asyncScheduler } from 'rxjs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryStore, RateLimiter, slidingWindow } from '../../src/index.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { lateStore } from '../support/lateStore.ts';

/** A limiter whose store replies a turn later, and its clock. */
function open() {
  const clock = { time: 0, readings: 0 };
  const scheduler = {
    now: () => {
      clock.readings++;
      return clock.time;
    },
    schedule: asyncScheduler.schedule.bind(asyncScheduler),
  };
  const limit = slidingWindow({ permits: 1_000, interval: 60_000 });
  const limiter = new RateLimiter({ name: 'n', limit, scheduler, store: lateStore(memoryStore(), 'redis') });
  // At most a sixteenth of the permits are requested at once.
  const acquire = (count = 60) => Array.from({ length: count }, () => limiter.acquire());
  return { clock, acquire };
}

test('requests of one turn share a reading of the clock, when they are made and when they are granted', async () => {
  const { clock, acquire } = open();
  await Promise.all(acquire(1));
  const before = clock.readings;
  await Promise.all(acquire());
  assert.ok(clock.readings - before < 20, `${clock.readings - before} readings`);
});

test('the requests of each turn count from a reading of their own', async () => {
  const { clock, acquire } = open();
  for (const time of [0, 100, 250]) {
    clock.time = time;
    const permits = acquire(5);
    clock.time += 5;
    assert.equal(
      (await Promise.all(permits)).map(({ waited }) => waited),
      [5, 5, 5, 5, 5],
    );
  }
});

timed('the requests of a store that replies at once count from a reading of their own', async (clock) => {
  const limiter = new RateLimiter({
    name: 'n',
    limit: slidingWindow({ permits: 1, interval: 1000, resolution: 1 }),
  });
  await limiter.acquire();
  const waited: (number | undefined)[] = [];
  for (const pause of [0, 100, 250]) {
    await clock.tickAsync(pause);
    const fate = fateOf(limiter.acquire());
    await clock.tickAsync(1000 - pause);
    waited.push(fate.value?.waited);
  }
  assert.equal(waited, [1000, 900, 750]);
  await limiter.close();
});

test.run();
