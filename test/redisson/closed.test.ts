import * as assert from 'uvu/assert';
import { LimiterClosedError, RateType } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { redissonSuite } from './redissonSuite.ts';

const test = redissonSuite('closed');

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

test('leaves no timer of requests that cannot be granted in time when closed', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 1, 3_600_000);
  await limiter.acquire();
  const before = timers();
  const refused = Array.from({ length: 3 }, () => rejection(limiter.tryAcquire(1, 1_800_000)));
  // The store has replied by then that none of them can be granted in time.
  await limiter.availablePermits();
  assert.ok(timers() >= before + 3, 'each waits for its time');
  await limiter.close();
  for (const error of await Promise.all(refused)) assert.instance(error, LimiterClosedError);
  assert.ok(timers() <= before, `${timers()} timers, and ${before} before`);
});

test.run();
