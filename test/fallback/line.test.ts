import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError, PermitsExceedLimitError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, slidingWindow } from '../../src/limits/limit.ts';
import type { Permit } from '../../src/port/permit.ts';
import { type FallbackOptions, fallbackOf } from '../../src/stores/fallback/fallbackOptions.ts';
import { fallbackStore } from '../../src/stores/fallback/fallbackStore.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Store } from '../../src/stores/store.ts';
import { type Fate, fateOf, timed } from '../support/fakeTime.ts';
import { assertNoCalls, FakeRedis, givenUp } from './fakes.ts';
import { Wire } from './wire.ts';

const hour = 3_600_000;

/**
 * A limiter over a slow connection to a store whose clock may be ahead, and one on the same limit without a connection.
 */
function setUp(limit: Limit, options: FallbackOptions = {}, ahead = 0) {
  const memory = memoryStore();
  const wire = new Wire(ahead === 0 ? memory : aheadOf(memory, ahead));
  const store = fallbackStore(wire, new FakeRedis(), fallbackOf(options));
  const limiter = new RateLimiter({ name: 'api', limit, store });
  return { wire, limiter, truth: new RateLimiter({ name: 'api', limit, store: memory }) };
}

/** The store with a clock that is ahead by this many milliseconds. */
function aheadOf(store: Store, ms: number): Store {
  return {
    open({ clock, ...config }) {
      const ahead = { now: () => clock.now(), origin: clock.origin + ms, after: clock.after.bind(clock) };
      return store.open({ ...config, clock: ahead });
    },
  };
}

/** The source of each grant. */
function sources(fates: readonly Fate<Permit>[]): (string | undefined)[] {
  return fates.map(({ value }) => value?.source);
}

function rises(numbers: readonly (number | undefined)[]): boolean {
  return numbers.every((n, i) => n !== undefined && (i === 0 || n >= numbers[i - 1]!));
}

timed('keeps the order of the queue from Redis to local and back, and loses no request', async (clock) => {
  const { wire, limiter } = setUp(slidingWindow({ permits: 10, interval: 100 }));
  const order: number[] = [];
  const fates = Array.from({ length: 300 }, (_, i) => {
    const asked = limiter.acquire();
    void asked.then(() => order.push(i));
    return fateOf(asked);
  });
  await clock.tickAsync(550);
  wire.freeze();
  await clock.tickAsync(2200);
  wire.thaw();
  await clock.tickAsync(20_000);
  assert.equal(
    order,
    Array.from({ length: 300 }, (_, i) => i),
  );
  assert.ok(rises(fates.map(({ at }) => at)));
  const granted = sources(fates);
  const changes = granted.filter((source, i) => source !== granted[i - 1]);
  assert.equal(changes, ['redis', 'fallback', 'redis']);
});

timed('does not delay local grants by Redis reservations from a clock that is ahead', async (clock) => {
  const { wire, limiter } = setUp(fixedWindow({ permits: 4, interval: 5_000 }), {}, hour);
  const reserved = [4, 3].map((n) => fateOf(limiter.acquire(n)));
  await clock.tickAsync(100);
  wire.freeze();
  const decided = fateOf(limiter.decide());
  const behind = fateOf(limiter.acquire());
  await clock.tickAsync(8_000);
  // No decision passes the requests that wait here.
  assert.is(decided.value?.granted, false);
  assert.equal(sources([...reserved, behind]), ['redis', 'redis', 'fallback']);
  assert.ok(rises([reserved[1].at, behind.at]));
});

timed('keeps the reservations made in Redis after Redis becomes unavailable', async (clock) => {
  const { wire, limiter } = setUp(fixedWindow({ permits: 4, interval: 5_000 }));
  const first = [4, 3].map((n) => fateOf(limiter.acquire(n)));
  await clock.tickAsync(100);
  assert.is(limiter.stats().reserved, 1);
  wire.freeze();
  const behind = fateOf(limiter.acquire(1));
  // Long enough for two checks of the queue for changes.
  await clock.tickAsync(8_000);
  assert.equal(sources([...first, behind]), ['redis', 'redis', 'fallback']);
  assert.ok(first[1].at! <= behind.at! && first[1].at! < 5_100);
});

timed('requests far-ahead local reservations again from Redis, in the same order', async (clock) => {
  const { wire, limiter } = setUp(fixedWindow({ permits: 4, interval: 60_000 }));
  wire.freeze();
  const fates = [1, 2, 3, 4].map((n) => fateOf(limiter.acquire(n % 2 ? 2 : 1)));
  await clock.tickAsync(givenUp + 10);
  // Half of four: the others would wait for a minute.
  assert.equal(sources(fates), ['fallback', undefined, undefined, undefined]);
  wire.thaw();
  // A queue with waiting requests calls at least every two seconds.
  await clock.tickAsync(5_000);
  assert.equal(sources(fates), ['fallback', 'redis', 'redis', 'redis']);
  assert.ok(rises(fates.map(({ at }) => at)));
});

timed(
  'grants a request larger than the local part after the return of Redis, before later requests',
  async (clock) => {
    const { wire, limiter } = setUp(fixedWindow({ permits: 10, interval: 60_000 }));
    wire.freeze();
    const small = fateOf(limiter.acquire(2));
    const large = fateOf(limiter.acquire(6));
    const behind = fateOf(limiter.acquire(1));
    await clock.tickAsync(5_000);
    assert.equal(sources([small, large, behind]), ['fallback', undefined, undefined]);
    wire.thaw();
    await clock.tickAsync(3_000);
    assert.equal(sources([small, large, behind]), ['fallback', 'redis', 'redis']);
    assert.ok(large.at! <= behind.at!);
  },
);

timed(
  'times out a request larger than the local part, and rejects one larger than the limit',
  async (clock) => {
    const { wire, limiter } = setUp(fixedWindow({ permits: 10, interval: 60_000 }));
    wire.freeze();
    await clock.tickAsync(0);
    const late = fateOf(limiter.acquire(6, { timeout: 2_000 }));
    const behind = fateOf(limiter.acquire(1));
    await clock.tickAsync(10_000);
    assert.instance(late.reason, AcquireTimeoutError);
    assert.is(late.at, 2_000);
    assert.is(behind.value?.source, 'fallback');
    assert.ok(behind.at! < 2_200);
    const never = fateOf(limiter.acquire(11));
    await clock.tickAsync(1_000);
    assert.instance(never.reason, PermitsExceedLimitError);
  },
);

timed('keeps timeouts while Redis becomes unavailable and while it returns', async (clock) => {
  const { wire, limiter } = setUp(fixedWindow({ permits: 2, interval: 700 }));
  wire.freeze();
  await clock.tickAsync(0);
  const timeouts = [100, 500, 600, 1_500, 2_300, 2_400, 4_000];
  const fates = timeouts.map((timeout) => fateOf(limiter.acquire(1, { timeout })));
  await clock.tickAsync(2_000);
  wire.thaw();
  await clock.tickAsync(3_000);
  const [granted, late] = [fates.filter(({ value }) => value), fates.filter(({ reason }) => reason)];
  assert.ok(granted.length >= 2 && late.length >= 2);
  for (const { reason } of late) assert.instance(reason, AcquireTimeoutError);
  for (const [i, { at }] of fates.entries()) assert.ok(at! <= timeouts[i], `${at} of ${timeouts[i]}`);
});

timed('leaves no charge of a reserve that ran late in Redis', async (clock) => {
  const { wire, limiter, truth } = setUp(fixedWindow({ permits: 100, interval: 1e9 }));
  wire.freeze();
  const fates = [10, 20].map((n) => fateOf(limiter.acquire(n)));
  await clock.tickAsync(3_000);
  assert.equal(sources(fates), ['fallback', 'fallback']);
  assert.is(await truth.availablePermits(), 100);
  wire.thaw();
  await clock.tickAsync(100);
  assert.is(await truth.availablePermits(), 100);
  assert.ok(fateOf(limiter.acquire(7)));
  await clock.tickAsync(10);
  assert.is(await truth.availablePermits(), 93);
});

timed('refunds to the store that granted, whichever store is in use', async (clock) => {
  const { wire, limiter, truth } = setUp(fixedWindow({ permits: 100, interval: 1e9 }));
  const ofRedis = fateOf(limiter.acquire(30));
  await clock.tickAsync(10);
  wire.freeze();
  const here = fateOf(limiter.acquire(40));
  await clock.tickAsync(givenUp + 10);
  assert.equal(sources([ofRedis, here]), ['redis', 'fallback']);
  const settled = [fateOf(ofRedis.value!.refund()), fateOf(here.value!.refund())];
  await clock.tickAsync(10);
  await clock.tickAsync(1);
  assert.ok(settled.every(({ at }) => at !== undefined));
  assert.is(await truth.availablePermits(), 70);
  wire.thaw();
  await clock.tickAsync(10);
  assert.is(await truth.availablePermits(), 100);
});

timed('leaves no timer when a limiter is closed while Redis is unavailable', async (clock) => {
  const { wire, limiter, truth } = setUp(fixedWindow({ permits: 2, interval: 1e6 }));
  wire.freeze();
  const fates = [fateOf(limiter.acquire()), fateOf(limiter.acquire()), fateOf(limiter.acquire(2))];
  await clock.tickAsync(givenUp + 100);
  assert.ok(fates[0].value);
  const closed = fateOf(limiter.close());
  await clock.tickAsync(10);
  assert.ok(closed.at);
  assertNoCalls(clock);
  assert.is((fates[2].reason as { code?: string }).code, 'ERR_SLUICE_CLOSED');
  wire.thaw();
  await clock.tickAsync(1_000);
  assertNoCalls(clock);
  assert.is(await truth.availablePermits(), 2);
});

timed('leaves no timer after the timeout of the call in flight when a limiter is closed', async (clock) => {
  const { wire, limiter, truth } = setUp(fixedWindow({ permits: 2, interval: 1e6 }));
  wire.freeze();
  const fate = fateOf(limiter.acquire());
  await clock.tickAsync(100);
  const closed = fateOf(limiter.close());
  await clock.tickAsync(givenUp);
  assert.ok(closed.at! <= givenUp + 10);
  assertNoCalls(clock);
  assert.ok(fate.reason);
  wire.thaw();
  await clock.tickAsync(100);
  assert.is(await truth.availablePermits(), 2);
});

timed(
  'reject: fails waiting requests when Redis becomes unavailable, and grants new ones after its return',
  async (clock) => {
    const { wire, limiter } = setUp(slidingWindow({ permits: 2, interval: 100 }), { mode: 'reject' });
    const fates = Array.from({ length: 20 }, () => fateOf(limiter.acquire()));
    await clock.tickAsync(250);
    wire.freeze();
    await clock.tickAsync(2_000);
    const granted = fates.filter(({ value }) => value).length;
    assert.ok(granted > 0 && granted < 20);
    for (const { value, reason } of fates)
      assert.ok(value?.source === 'redis' || (reason as { code?: string }).code === 'ERR_SLUICE_UNAVAILABLE');
    wire.thaw();
    const back = fateOf(limiter.acquire());
    await clock.tickAsync(300);
    assert.is(back.value?.source, 'redis');
  },
);

timed('allow: grants waiting requests in order when Redis becomes unavailable', async (clock) => {
  const { wire, limiter } = setUp(slidingWindow({ permits: 2, interval: 100 }), { mode: 'allow' });
  const order: number[] = [];
  for (let i = 0; i < 1000; i++) void limiter.acquire().then(() => order.push(i));
  await clock.tickAsync(250);
  wire.freeze();
  await clock.tickAsync(1_000);
  assert.equal(
    order,
    Array.from({ length: 1000 }, (_, i) => i),
  );
});

timed(
  'allow: grants all requests in time, however many more they are than the limit has permits',
  async (clock) => {
    const { wire, limiter } = setUp(slidingWindow({ permits: 10, interval: 1000 }), { mode: 'allow' });
    wire.freeze();
    const ask = () => Array.from({ length: 100 }, () => fateOf(limiter.acquire(1, { timeout: 600 })));
    const first = ask();
    await clock.tickAsync(givenUp + 10);
    const next = ask();
    await clock.tickAsync(10);
    for (const fates of [first, next]) assert.equal(sources(fates), Array(100).fill('fallback'));
  },
);

test.run();
