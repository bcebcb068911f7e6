import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { last, lastValueFrom, take } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromThrottled, memoryStore, RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { runsOf } from '../support/campaign.ts';
import { answered, lateStore } from '../support/lateStore.ts';
import { assertIdle } from '../support/marbles.ts';
import { naturals, watched, watchedAsync } from './inputs.ts';

const test = suite('fromThrottled, many values');
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const wide = tokenBucket({ permits: 1_000_000, interval: 1, burst: 4_000_000 });

test('many values of an iterable neither recurse nor stall', () => {
  const limiter = new RateLimiter({ name: 'api', limit: wide });
  const input = watched(naturals());
  const said: unknown[] = [];
  fromThrottled(input, limiter)
    .pipe(take(200_000), last())
    .subscribe({ next: (n) => said.push(n), complete: () => said.push('complete') });
  assert.equal(said, [199_999, 'complete']);
  assert.equal([input.pulled, input.returned], [200_000, 1]);
  assertIdle(limiter);
});

test('many values neither recurse nor stall when the first had to wait', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: wide });
  await limiter.acquire(4_000_000);
  const result = fromThrottled(naturals(), limiter).pipe(take(50_000), last());
  assert.is(await lastValueFrom(result), 49_999);
});

test('many values neither recurse nor stall with a line that grants within the call', () => {
  const permit = { refund: async () => {} };
  const line = {
    name: 'api',
    costOf: () => [1],
    now: () => 0,
    ask() {},
    count: (waiter: { granted(grant: unknown, data: unknown): void }, _cost: unknown, data: unknown) =>
      waiter.granted({}, data),
    permitOf: () => permit,
  };
  const said: unknown[] = [];
  fromThrottled(naturals(), { line } as unknown as RateLimiter)
    .pipe(take(100_000), last())
    .subscribe({ next: (n) => said.push(n), error: (error) => said.push(error) });
  assert.equal(said, [99_999]);
});

test('an endless async input needs no memory', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: wide });
  const living: WeakRef<object>[] = [];
  let pulled = 0;
  let emitted = 0;
  let ahead = 0;
  async function* objects() {
    for (;;) {
      ahead = Math.max(ahead, ++pulled - emitted);
      const value = { pulled };
      if (pulled % 100 === 0) living.push(new WeakRef(value));
      yield value;
    }
  }
  await fromThrottled(objects(), limiter)
    .pipe(take(50_000))
    .forEach(() => {
      emitted++;
    });
  assert.equal([pulled, ahead], [50_000, 1]);
  await new Promise(setImmediate);
  collectGarbage();
  const left = living.filter((reference) => reference.deref() !== undefined).length;
  assert.ok(left <= 1, `${left} of ${living.length} values are still held`);
});

test('whatever the input, its consumer and the limit, emitted values are charged, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        length: fc.nat(20),
        wanted: fc.integer({ min: 1, max: 20 }),
        permits: fc.integer({ min: 1, max: 3 }),
        limit: fc.integer({ min: 3, max: 30 }),
        async: fc.boolean(),
        late: fc.constantFrom(undefined, 'memory', 'redis'),
      }),
      async ({ length, wanted, permits, limit, async, late }) => {
        const window = slidingWindow({ permits: limit, interval: 100_000, resolution: 1 });
        const store = late ? lateStore(memoryStore(), late) : memoryStore();
        const limiter = new RateLimiter({ name: 'api', limit: window, store });
        const values = Array.from({ length }, (_, i) => i);
        const input = async ? watchedAsync(values) : watched(values);
        const got: number[] = [];
        const result = fromThrottled(input, limiter, { permits }).pipe(take(wanted));
        const subscription = result.subscribe((value) => got.push(value));
        for (let i = 0; i < 12; i++) await answered();
        const granted = Math.floor(limit / permits);
        const emitted = Math.min(length, wanted, granted);
        const ended = length < wanted && length < granted;
        assert.equal(got, values.slice(0, emitted));
        assert.is(input.pulled, emitted + (ended ? 1 : 0));
        subscription.unsubscribe();
        await answered();
        assert.is(input.returned, ended ? 0 : 1);
        assert.is(await limiter.availablePermits(), limit - emitted * permits);
        assertIdle(limiter);
        await limiter.close();
      },
    ),
    { numRuns: runsOf(150) },
  );
});

test.run();
