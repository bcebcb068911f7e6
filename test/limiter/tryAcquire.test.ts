import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PermitsExceedLimitError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';

const open = () => new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 5, interval: 1000 }) });

timed('tryAcquire takes available permits, and returns false without a charge otherwise', async () => {
  const limiter = open();
  const answers = [];
  for (const permits of [3, 3, 2, 1]) answers.push(await limiter.tryAcquire(permits));
  assert.equal(answers, [true, false, true, false]);
  assert.is(await limiter.availablePermits(), 0);
});

timed('tryAcquire does not overtake waiting requests of this process', async (clock) => {
  const limiter = open();
  await limiter.acquire(3);
  const big = fateOf(limiter.acquire(4));
  assert.is(await limiter.tryAcquire(1), false);
  await clock.tickAsync(1000);
  assert.is(big.value?.waited, 1000);
  assert.is(await limiter.tryAcquire(1), true);
});

timed('tryAcquire waits for its timeout, if the permits come in time', async (clock) => {
  const limiter = open();
  await limiter.acquire(5);
  const fates = [999, 1000].map((timeout) => fateOf(limiter.tryAcquire(1, { timeout })));
  await clock.tickAsync(1000);
  assert.equal(times(fates), [0, 1000]);
  assert.equal(
    fates.map(({ value }) => value),
    [false, true],
  );
});

timed('tryAcquire is false only if permits are not available', async () => {
  const limiter = open();
  assert.instance(await rejection(limiter.tryAcquire(6)), PermitsExceedLimitError);
  await limiter.close();
  assert.is(((await rejection(limiter.tryAcquire())) as { code?: string }).code, 'ERR_SLUICE_CLOSED');
});

timed('a full queue does not refuse tryAcquire, which does not wait', async () => {
  const limit = slidingWindow({ permits: 5, interval: 1000 });
  const limiter = new RateLimiter({ name: 'api', limit, maxQueue: 1 });
  await limiter.acquire(5);
  fateOf(limiter.acquire());
  assert.is(await limiter.tryAcquire(), false);
});

test.run();
