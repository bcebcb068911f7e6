import * as assert from 'uvu/assert';
import { LimiterClosedError, RateType, RedissonRateLimiter } from '../../src/index.ts';
import {
  assertRefuses,
  noDuration,
  noObject,
  noPositiveInteger,
  noString,
  rejection,
} from '../support/badInput.ts';
import { redissonSuite } from './redissonSuite.ts';

const test = redissonSuite('arguments');

const integer = 'a positive safe integer';
type Any = never;

test('rejects an invalid number of permits, and charges nothing', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 10, 60_000);
  for (const method of ['tryAcquire', 'acquire'] as const)
    await assertRefuses((value) => limiter[method](value as Any), noPositiveInteger, 'permits', integer);
  const noRelease = noPositiveInteger.filter(([value]) => value !== 0);
  await assertRefuses((value) => limiter.release(value as Any), noRelease, 'permits', integer);
  assert.is(await limiter.availablePermits(), 10);
});

test('rejects an invalid timeout', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 10, 60_000);
  await assertRefuses(
    (value) => limiter.tryAcquire(1, value as Any),
    noDuration,
    'timeout',
    'milliseconds, 0 or more',
  );
  assert.is(await limiter.availablePermits(), 10);
});

for (const method of ['trySetRate', 'setRate', 'updateRate'] as const)
  test(`${method}: rejects an invalid rate, and sets nothing`, async ({ ours, redis }) => {
    const limiter = ours();
    const set = (type: unknown, rate: unknown, interval: unknown, options?: unknown) =>
      limiter[method](type as Any, rate as Any, interval as Any, options as Any);
    await assertRefuses((value) => set(0, value, 1_000), noPositiveInteger, 'rate', integer);
    await assertRefuses((value) => set(0, 10, value), noPositiveInteger, 'interval', integer);
    await assertRefuses((value) => set(0, 10, 1_000, value), noObject, 'options', 'an object');
    await assertRefuses((type) => set(type, 10, 1_000), [[2, RangeError, '2']], 'type', 'RateType.OVERALL');
    assert.is(await redis.dbsize(), 0);
  });

test('rejects an invalid time to live', async ({ ours }) => {
  const limiter = ours();
  await assertRefuses((value) => limiter.expire(value as Any), noPositiveInteger, 'ms', integer);
});

test('rejects a value that is not a limiter', async ({ redis }) => {
  const make = (connection: unknown, name: unknown, options?: unknown) =>
    new RedissonRateLimiter(connection as Any, name as Any, options as Any);
  await assertRefuses((value) => make(value, 'api'), noObject, 'redis', 'an ioredis Redis');
  await assertRefuses((value) => make(redis, value), noString, 'name', 'string');
  await assertRefuses((value) => make(redis, 'api', value), noObject, 'options', 'an object');
  await assertRefuses((value) => make(redis, 'api', { clientId: value }), noString, 'clientId', 'string');
});

test('every method of a closed limiter fails', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 10, 60_000);
  await limiter.close();
  const asked: Promise<unknown>[] = [
    limiter.tryAcquire(),
    limiter.acquire(),
    limiter.release(1),
    limiter.release(0),
    limiter.availablePermits(),
    limiter.setRate(RateType.OVERALL, 10, 60_000),
    limiter.delete(),
    limiter.isExists(),
  ];
  for (const error of await Promise.all(asked.map(rejection))) assert.instance(error, LimiterClosedError);
  await limiter.close();
});

test.run();
