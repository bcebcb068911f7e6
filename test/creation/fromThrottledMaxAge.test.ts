import { Readable } from 'node:stream';
import fc from 'fast-check';
import { asyncScheduler, take } from 'rxjs';
import type { SinonFakeTimers } from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type FromThrottledOptions,
  fixedWindow,
  fromThrottled,
  leakyBucket,
  memoryStore,
  type Permit,
  RateLimiter,
  type RateLimiterOptions,
  slidingWindow,
} from '../../src/index.ts';
import { timed } from '../support/fakeTime.ts';
import { answered, lateStore } from '../support/lateStore.ts';
import { assertIdle } from '../support/marbles.ts';
import { type ByHand, byHand, naturals, settled, watched, watchedAsync } from './inputs.ts';

const five = slidingWindow({ permits: 5, interval: 10_000, resolution: 1 });
const epoch = 1_700_000_000_000;

/** An emitted value, with the time and the age of its permit. */
interface Said {
  value: unknown;
  at: number;
  age?: number;
}

/** A subscription to an input whose results the test sends, and its notifications. */
function arrange(
  clock: SinonFakeTimers,
  {
    limit = five,
    limiter = new RateLimiter({ name: 'api', limit }),
    input = byHand<string>(),
    ...options
  }: FromThrottledOptions & {
    limit?: RateLimiterOptions['limit'];
    limiter?: RateLimiter;
    input?: ByHand<string>;
  } = {},
) {
  const said: Said[] = [];
  const at = () => clock.now - epoch;
  const project = (value: string, { grantedAt }: { grantedAt: number }) => ({
    value,
    at: at(),
    age: clock.now - grantedAt,
  });
  const subscription = fromThrottled(input, limiter, { ...options, project }).subscribe({
    next: (item) => said.push(item),
    error: (error) => said.push({ value: error.name, at: at() }),
    complete: () => said.push({ value: 'complete', at: at() }),
  });
  return { limiter, input, said, subscription };
}

async function assertLeft(limiter: RateLimiter, permits: number): Promise<void> {
  assert.is(await limiter.availablePermits(), permits);
  assertIdle(limiter);
}

const value = (value: string) => ({ done: false, value }) as const;

timed(
  'the values of twenty quiet inputs are emitted at the rate of the limit, on fresh permits',
  async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 2, interval: 1_000 }) });
    const readers = Array.from({ length: 20 }, () => arrange(clock, { limiter }));
    await clock.tickAsync(14_000);
    for (const [i, { input }] of readers.entries()) await input.answer(value(`${i}`));
    await clock.tickAsync(30_000);
    const said = readers.flatMap(({ said }) => said);
    assert.is(said.length, 20);
    for (const { age } of said) assert.ok(age! <= 100, `${age} ms old`);
    const times = said.map(({ at }) => at).sort((a, b) => a - b);
    for (let i = 2; i < times.length; i++) assert.ok(times[i] - times[i - 2] >= 1_000 - 100, `${times}`);
    for (const { subscription } of readers) subscription.unsubscribe();
    await assertLeft(limiter, 2);
  },
);

timed('a permit whose value is late is refunded, and the value waits for another permit', async (clock) => {
  const { limiter, input, said } = arrange(clock, { maxAge: 200 });
  await assertLeft(limiter, 4);
  await clock.tickAsync(200);
  await assertLeft(limiter, 4);
  await clock.tickAsync(1);
  await assertLeft(limiter, 5);
  assert.is(clock.countTimers(), 0);
  await limiter.acquire(5);
  await input.answer(value('a'));
  assert.is(input.pulled, 1);
  assert.equal(said, []);
  await clock.tickAsync(9_999);
  assert.equal(said, []);
  await clock.tickAsync(1);
  assert.equal(said, [{ value: 'a', at: 10_201, age: 0 }]);
  assert.is(input.pulled, 2);
});

timed('a value that arrives in time uses the permit that it was pulled with', async (clock) => {
  const { limiter, input, said } = arrange(clock, { maxAge: 200 });
  await clock.tickAsync(200);
  await input.answer(value('a'));
  await clock.tickAsync(150);
  await input.answer(value('b'));
  assert.equal(said, [
    { value: 'a', at: 200, age: 200 },
    { value: 'b', at: 350, age: 150 },
  ]);
  await assertLeft(limiter, 2);
});

timed('with Infinity a permit never expires', async (clock) => {
  const { limiter, input, said } = arrange(clock, { maxAge: Infinity });
  assert.is(clock.countTimers(), 0);
  await clock.tickAsync(9_000);
  await assertLeft(limiter, 4);
  await input.answer(value('a'));
  assert.equal(said, [{ value: 'a', at: 9_000, age: 9_000 }]);
});

timed('with 0 a permit expires after a millisecond, and every value is emitted', async (clock) => {
  const { input, said, limiter } = arrange(clock, { maxAge: 0 });
  await input.answer(value('a'));
  await clock.tickAsync(10);
  await input.answer(value('b'));
  assert.equal(
    said.map(({ value, age }) => [value, age]),
    [
      ['a', 0],
      ['b', 0],
    ],
  );
  await assertLeft(limiter, 2);
});

/** The default `maxAge` of a limiter. */
async function ageOf(clock: SinonFakeTimers, limiter: RateLimiter): Promise<number> {
  const { subscription } = arrange(clock, { limiter });
  await settled();
  const all = await limiter.availablePermits();
  let age = 0;
  for (; age < 3_000 && (await limiter.availablePermits()) === all; age++) await clock.tickAsync(1);
  subscription.unsubscribe();
  return age - 1;
}

timed('by default it is a tenth of the shortest interval in force, and at least 50 ms', async (clock) => {
  const window = (interval: number) => fixedWindow({ permits: 10, interval });
  const limiters: [RateLimiterOptions['limit'], number][] = [
    [window(10_000), 1_000],
    [window(3_000), 300],
    [window(400), 50],
    [{ a: window(60_000), b: window(2_000) }, 200],
  ];
  for (const [limit, age] of limiters)
    assert.is(await ageOf(clock, new RateLimiter({ name: 'api', limit })), age);
  const limiter = new RateLimiter({ name: 'api', limit: window(10_000) });
  await limiter.setRate(window(4_000));
  assert.is(await ageOf(clock, limiter), 400);
});

timed('the end and an error need no fresh permit', async (clock) => {
  for (const end of ['complete', 'Error']) {
    const { limiter, input, said } = arrange(clock);
    await clock.tickAsync(1_001);
    await limiter.acquire(5);
    if (end === 'Error') await input.fail(new Error('broken'));
    else await input.answer({ done: true, value: undefined });
    assert.equal(
      said.map(({ value }) => value),
      [end],
    );
    assert.is(clock.countTimers(), 0);
    await assertLeft(limiter, 0);
  }
});

timed(
  'unsubscribing refunds, whether the permit waits for its value or the value for a permit',
  async (clock) => {
    const { limiter, input, said, subscription } = arrange(clock);
    subscription.unsubscribe();
    assert.is(clock.countTimers(), 0);
    assert.is(input.returned, 1);
    await assertLeft(limiter, 5);
    const second = arrange(clock, { limiter });
    await clock.tickAsync(1_001);
    await limiter.acquire(5);
    await second.input.answer(value('a'));
    assert.is(limiter.stats().queued + limiter.stats().reserved, 1);
    second.subscription.unsubscribe();
    assert.is(second.input.returned, 1);
    await assertLeft(limiter, 0);
    await clock.tickAsync(20_000);
    assert.equal([said, second.said], [[], []]);
    await assertLeft(limiter, 5);
  },
);

timed('timeout bounds the wait for the other permit, too', async (clock) => {
  const { limiter, input, said } = arrange(clock, { timeout: 500 });
  await clock.tickAsync(1_001);
  await limiter.acquire(5);
  await input.answer(value('a'));
  assert.equal(said, [{ value: 'AcquireTimeoutError', at: 1_001 }]);
  assert.equal([input.pulled, input.returned], [1, 1]);
  await assertLeft(limiter, 0);
});

timed('an error that arrives while a value waits for another permit is emitted after it', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  const stream = new Readable({ objectMode: true, read() {} });
  const said: unknown[] = [];
  fromThrottled(stream, limiter).subscribe({
    next: (item) => said.push(item),
    error: (error) => said.push(error.message),
  });
  await clock.tickAsync(1_001);
  await limiter.acquire(5);
  stream.push('a');
  await clock.tickAsync(100);
  stream.destroy(new Error('broken'));
  await clock.tickAsync(100);
  assert.equal(said, []);
  await clock.tickAsync(10_000);
  assert.equal(said, ['a', 'broken']);
  await assertLeft(limiter, 4);
});

timed('a value of an input that blocks the event loop gets another permit, too', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: leakyBucket({ permits: 1, interval: 1_000 }) });
  function* slow() {
    for (const n of naturals()) {
      // Time passes, and no timer fires.
      clock.setSystemTime(clock.now);
      clock.jump(150);
      yield n;
    }
  }
  const said: number[] = [];
  const project = (_: number, { grantedAt }: { grantedAt: number }) => clock.now - grantedAt;
  fromThrottled(slow(), limiter, { project })
    .pipe(take(5))
    .subscribe((age) => said.push(age));
  await clock.tickAsync(20_000);
  assert.is(said.length, 5);
  for (const age of said) assert.ok(age <= 100, `${said}`);
});

test('expired prefetched permits are not used', async () => {
  let now = epoch;
  const limiter = new RateLimiter({
    name: 'api',
    limit: slidingWindow({ permits: 1_000_000, interval: 1_000 }),
    store: lateStore(memoryStore(), 'redis'),
    // No time passes but by the values, however busy the machine is.
    scheduler: { now: () => now, schedule: asyncScheduler.schedule.bind(asyncScheduler) },
  });
  for (const input of [watched(naturals()), watchedAsync(naturals())]) {
    const ages: number[] = [];
    const project = (_: number, { grantedAt }: Permit) => now - grantedAt;
    await fromThrottled(input as Iterable<number>, limiter, { maxAge: 100, project })
      .pipe(take(300))
      .forEach((age) => {
        ages.push(age);
        // The prefetched permits are granted by now, or are about to be delivered.
        if (ages.length % 100 === 50) now += 200;
      });
    assert.is(input.pulled, 300);
    const old = ages.filter((age) => age > 110);
    assert.ok(old.length === 0, `${old}`);
    await answered();
    assertIdle(limiter);
  }
  await limiter.close();
});

test('whenever values arrive, all are emitted in order, on permits that have not expired, and none is lost', async () => {
  const delays = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 12 });
  const property = fc.asyncProperty(
    delays,
    fc.integer({ min: 1, max: 3 }),
    fc.constantFrom(undefined, 30, 150),
    async (delays, permits, maxAge) => {
      const sinon = (await import('sinon')).default;
      const clock = sinon.useFakeTimers({ now: epoch });
      try {
        const limit = slidingWindow({ permits, interval: 500, resolution: 1 });
        const limiter = new RateLimiter({ name: 'api', limit });
        async function* values() {
          for (const [i, delay] of delays.entries()) {
            await new Promise((resolve) => setTimeout(resolve, delay));
            yield i;
          }
        }
        const said: unknown[] = [];
        const project = (n: number, { grantedAt }: { grantedAt: number }) => {
          assert.ok(clock.now - grantedAt <= (maxAge ?? 50), `${clock.now - grantedAt} ms old`);
          return n;
        };
        fromThrottled(values(), limiter, { maxAge, project }).subscribe({
          next: (n) => said.push(n),
          error: (error) => said.push(error),
          complete: () => said.push('complete'),
        });
        await clock.tickAsync(20_000);
        assert.equal(said, [...delays.keys(), 'complete']);
        await assertLeft(limiter, permits);
      } finally {
        clock.restore();
      }
    },
  );
  await fc.assert(property, { numRuns: 60 });
});

test.run();
