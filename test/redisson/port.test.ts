import { from, lastValueFrom, timer } from 'rxjs';
import { finalize, map, toArray } from 'rxjs/operators';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  acquirePermits,
  fromThrottled,
  NotInitializedError,
  PermitsExceedLimitError,
  permits$,
  RateType,
  throttleDistributed,
} from '../../src/index.ts';
import { overSliding } from '../properties/oracle.ts';
import { rejection } from '../support/badInput.ts';
import { watchGrants } from './grants.ts';
import { redissonSuite } from './redissonSuite.ts';
import { stateOf } from './state.ts';

const test = redissonSuite('port');

const permits = 4;
const interval = 150;
const minute = 60_000;
const numbers = Array.from({ length: 15 }, (_, i) => i);

test('throttleDistributed: emits every value, in order, and never exceeds the limit', async ({
  ours,
  redis,
}) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, permits, interval);
  const { grants, stop } = await watchGrants(redis);
  const values = await lastValueFrom(from(numbers).pipe(throttleDistributed(limiter), toArray()));
  await stop();
  assert.equal(values, numbers);
  const written = grants.map(({ at, n }) => ({ t: at, n }));
  const limit = { kind: 'slidingWindow', permits, interval, resolution: 1 } as const;
  assert.is(overSliding(limit, written), undefined);
  assert.is(written.length, numbers.length);
});

test('throttleDistributed: charges more than one permit per value', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 10, minute);
  const costs = [1, 4, 5];
  await lastValueFrom(from(costs).pipe(throttleDistributed(limiter, { permits: (n) => n })));
  assert.equal(
    (await stateOf(redis)).log.map((entry) => entry.permits).sort((a, b) => a - b),
    costs,
  );
});

test('throttleDistributed: loses nothing with a bound, twice in one pipeline, while permits are free', async ({
  ours,
}) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 100, minute);
  const bounded = throttleDistributed<number, number>(limiter, { maxQueue: 1, overflow: 'dropOldest' });
  const values = await lastValueFrom(from(numbers).pipe(bounded, bounded, toArray()));
  assert.equal(values, numbers);
});

test('acquirePermits: acquires before it subscribes', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, permits, minute);
  const used = await lastValueFrom(
    timer(0).pipe(
      map(() => stateOf(redis)),
      acquirePermits(limiter, 2),
    ),
  );
  assert.is((await used).used, 2);
});

test('fromThrottled: pulls values as permits are granted', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, permits, interval);
  assert.equal(await lastValueFrom(fromThrottled(numbers, limiter).pipe(toArray())), numbers);
});

test('refuses at once if the grant is after the timeout, and reports its moment', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, permits, minute);
  await limiter.acquire(permits);
  const asked = performance.now();
  const error = await rejection(lastValueFrom(permits$(limiter, 1, { timeout: minute / 2 })));
  const took = performance.now() - asked;
  assert.instance(error, AcquireTimeoutError);
  const { retryAfter } = error as AcquireTimeoutError;
  assert.ok(retryAfter! > minute / 2 && retryAfter! <= minute + 1, `${retryAfter} ms`);
  assert.ok(took < minute / 4, `refused after ${took} ms`);
  assert.is((await stateOf(redis)).used, permits);
});

test('every method refuses more than the rate, and charges nothing', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, permits, minute);
  const asked = [
    limiter.tryAcquire(permits + 1),
    limiter.tryAcquire(permits + 1, 20),
    limiter.acquire(permits + 1),
    lastValueFrom(permits$(limiter, permits + 1)),
  ];
  for (const error of await Promise.all(asked.map(rejection)))
    assert.instance(error, PermitsExceedLimitError);
  assert.is((await stateOf(redis)).used, 0);
  // Later requests are granted.
  assert.ok(await limiter.tryAcquire(permits));
});

test('every method of a limiter without a rate fails', async ({ ours, redis }) => {
  const limiter = ours();
  const asked: Promise<unknown>[] = [
    limiter.tryAcquire(),
    limiter.acquire(),
    limiter.availablePermits(),
    limiter.release(1),
    lastValueFrom(permits$(limiter)),
  ];
  for (const error of await Promise.all(asked.map(rejection))) {
    assert.instance(error, NotInitializedError);
    assert.is((error as NotInitializedError).code, 'ERR_SLUICE_NOT_INITIALIZED');
  }
  assert.is(await redis.dbsize(), 0);
});

test('unsubscribing removes the request from the queue, and later ones move up', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 1, interval);
  await limiter.acquire();
  const left = permits$(limiter).subscribe(() => assert.unreachable('it was cancelled'));
  const behind = limiter.acquire();
  await new Promise(setImmediate);
  left.unsubscribe();
  await behind;
  assert.is((await stateOf(redis)).used, 1);
});

test('unsubscribing a stream ends its waits', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 2, minute);
  let ended = false;
  const subscription = from(numbers)
    .pipe(
      throttleDistributed(limiter),
      finalize(() => (ended = true)),
    )
    .subscribe();
  await limiter.availablePermits();
  subscription.unsubscribe();
  assert.ok(ended);
  const other = ours();
  await other.setRate(RateType.OVERALL, 5, minute);
  assert.ok(await other.tryAcquire(5));
  assert.is((await stateOf(redis)).used, 5);
});

test.run();
