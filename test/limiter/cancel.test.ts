import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { leakyBucket, slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';

/** A limiter whose `permits` of this second are all taken, and another limiter of the same limit. */
async function emptied(permits = 5) {
  const store = memoryStore();
  const limit = slidingWindow({ permits, interval: 1000 });
  const limiter = new RateLimiter({ name: 'api', limit, store });
  const other = new RateLimiter({ name: 'api', limit, store });
  await limiter.acquire(permits);
  return { limiter, other };
}

/** A request that can be cancelled. */
function waiting(limiter: RateLimiter, permits = 1) {
  const controller = new AbortController();
  const fate = fateOf(limiter.acquire(permits, { signal: controller.signal }));
  return { fate, cancel: () => controller.abort() };
}

timed('the next requests of the same cost take over a cancelled moment', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: leakyBucket({ permits: 1, interval: 100 }) });
  await limiter.acquire();
  const line = Array.from({ length: 4 }, () => waiting(limiter));
  await clock.tickAsync(50);
  line[0].cancel();
  await clock.tickAsync(1000);
  assert.equal(times(line.map(({ fate }) => fate)), [50, 100, 200, 300]);
});

timed('the last moment is refunded, for the next request of any process', async (clock) => {
  const { limiter, other } = await emptied();
  const line = [waiting(limiter), waiting(limiter)];
  line[0].cancel();
  const big = fateOf(other.acquire(4));
  await clock.tickAsync(1000);
  assert.equal(times([line[1].fate, big]), [1000, 1000]);
});

timed('a request of another cost in between is not overtaken, and keeps its moment', async (clock) => {
  const { limiter } = await emptied(4);
  const line = [waiting(limiter, 2), waiting(limiter, 3), waiting(limiter, 2)];
  line[0].cancel();
  await clock.tickAsync(5000);
  const [, big, small] = times(line.map(({ fate }) => fate));
  assert.ok(big! <= small!);
  assert.ok(big! >= 1000 && small! <= 3000);
});

timed('cancelling everything makes all permits free', async (clock) => {
  const { limiter } = await emptied();
  const line = [1, 2, 1, 5, 1, 1, 3].map((permits) => waiting(limiter, permits));
  await clock.tickAsync(100);
  for (const { cancel } of line) cancel();
  assert.is(clock.countTimers(), 0);
  await clock.tickAsync(900);
  assert.is(await limiter.availablePermits(), 5);
  assert.equal([limiter.stats().queued, limiter.stats().reserved], [0, 0]);
});

timed('a cancelled request has no result when its moment comes', async (clock) => {
  const { limiter } = await emptied();
  const { fate, cancel } = waiting(limiter);
  cancel();
  cancel();
  await clock.tickAsync(5000);
  assert.equal([fate.at, fate.value, limiter.stats().granted], [0, undefined, 1]);
});

timed('limiters that share a store and a client id refund separately', async (clock) => {
  const store = memoryStore();
  const limit = slidingWindow({ permits: 5, interval: 1000 });
  const [a, b] = [0, 1].map(() => new RateLimiter({ name: 'api', limit, store, clientId: 'one' }));
  const permits = [await a.acquire(2), await b.acquire(2)];
  for (const permit of permits) await permit.refund();
  assert.is(await a.availablePermits(), 5);
  await clock.tickAsync(0);
});

test.run();
