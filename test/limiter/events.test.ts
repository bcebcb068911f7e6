import { Subject } from 'rxjs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  LimiterClosedError,
  type LimiterEvent,
  memoryStore,
  type Permits,
  RateLimiter,
  RateLimiterGroup,
  type RateLimiterOptions,
  slidingWindow,
  throttleDistributed,
  tokenBucket,
} from '../../src/index.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';

const limit = slidingWindow({ permits: 2, interval: 1000, resolution: 1 });
const start = 1_700_000_000_000;

type Fail = (error: Error) => void;

/** A limiter, and its events from now on, without the field `limiter`. */
function watched(options: Partial<RateLimiterOptions> = {}) {
  const limiter = new RateLimiter({ name: 'api', limit, ...options });
  const events: (Omit<LimiterEvent, 'limiter'> | 'end')[] = [];
  const subscription = limiter.events$.subscribe({
    next({ limiter: name, ...event }) {
      assert.is(name, 'api');
      events.push(event);
    },
    complete: () => events.push('end'),
  });
  /** The events of the given types since the last call. */
  const newEvents = (...types: string[]) =>
    events.splice(0).filter((event) => event === 'end' || types.length === 0 || types.includes(event.type));
  return { limiter, newEvents, subscription };
}

const granted = (ms: number, permits: Permits = 1) => ({
  type: 'granted',
  permits,
  grantedAt: start + ms,
  source: 'memory',
});

timed('a request is queued, and granted at its moment', async (clock) => {
  const { limiter, newEvents } = watched();
  for (const n of [2, 1]) fateOf(limiter.acquire(n));
  assert.equal(newEvents(), [{ type: 'queued', permits: 2 }, granted(0, 2), { type: 'queued', permits: 1 }]);
  await clock.tickAsync(1000);
  assert.equal(newEvents(), [granted(1000)]);
});

timed(
  'a request that may not wait is denied, and one that cannot be granted in time times out',
  async (clock) => {
    const { limiter, newEvents } = watched();
    await limiter.acquire(2);
    newEvents();
    await limiter.tryAcquire();
    fateOf(limiter.acquire(1, { timeout: 400 }));
    assert.equal(newEvents('denied', 'timeout'), [
      { type: 'denied', permits: 1, retryAfter: 1000 },
      { type: 'timeout', permits: 1, retryAfter: 1000 },
    ]);
    await clock.tickAsync(100);
    await limiter.decide();
    assert.equal(newEvents(), [{ type: 'denied', permits: 1, retryAfter: 900 }]);
  },
);

timed('a request that may not wait behind others is denied, and never queued', async () => {
  const { limiter, newEvents } = watched();
  for (let i = 0; i < 3; i++) fateOf(limiter.acquire());
  newEvents();
  await limiter.tryAcquire();
  assert.equal(
    newEvents().map((event) => event !== 'end' && event.type),
    ['denied'],
  );
});

timed('a decision that grants does not know its moment', async () => {
  const { limiter, newEvents } = watched();
  await limiter.decide(2);
  assert.equal(newEvents(), [{ type: 'granted', permits: 2, grantedAt: undefined, source: 'memory' }]);
});

timed('an aborted request is cancelled, and its reservation is refunded', async () => {
  const { limiter, newEvents } = watched();
  await limiter.acquire(2);
  const controller = new AbortController();
  fateOf(limiter.acquire(1, { signal: controller.signal }));
  newEvents();
  controller.abort();
  assert.equal(newEvents(), [
    { type: 'cancelled', permits: 1 },
    { type: 'refunded', permits: 1 },
  ]);
});

timed('each value is queued, and cancelled if its subscription ends', async () => {
  const { limiter, newEvents } = watched();
  const source = new Subject<string>();
  const subscription = source.pipe(throttleDistributed(limiter)).subscribe();
  for (const value of 'abcde') source.next(value);
  assert.is(newEvents('queued').length, 5);
  subscription.unsubscribe();
  assert.is(newEvents('cancelled').length, 3);
});

timed('dropped values are reported with their reason', async (clock) => {
  const { limiter, newEvents } = watched();
  const source = new Subject<string>();
  const drop = (value: string, reason: string) => ({ type: 'dropped', value, reason });
  source.pipe(throttleDistributed(limiter, { maxQueue: 1, overflow: 'dropNewest' })).subscribe();
  for (const value of 'abcd') source.next(value);
  assert.equal(newEvents('dropped'), [drop('d', 'overflow')]);
  source.complete();
  await clock.tickAsync(5000);
  const options = [
    [{ maxQueue: 1, overflow: 'dropOldest' }, 'c', 'overflow'],
    [{ strategy: 'drop' }, 'c', 'strategy'],
    [{ timeout: 300, onTimeout: 'drop' }, 'c', 'timeout'],
  ] as const;
  for (const [option, value, reason] of options) {
    const values = new Subject<string>();
    values.pipe(throttleDistributed(limiter, option)).subscribe();
    for (const one of 'abcd') values.next(one);
    assert.equal(newEvents('dropped')[0], drop(value, reason), reason);
    values.complete();
    await clock.tickAsync(5000);
  }
});

timed('refunds and releases are reported', async () => {
  const { limiter, newEvents } = watched();
  const permit = await limiter.acquire(2);
  newEvents();
  await permit.refund(1);
  await limiter.release(1);
  assert.equal(newEvents(), [
    { type: 'refunded', permits: 1 },
    { type: 'refunded', permits: 1 },
  ]);
});

timed('with several limits, permits are a record', async () => {
  const { limiter, newEvents } = watched({
    limit: { calls: limit, bytes: tokenBucket({ permits: 9, interval: 9 }) },
  });
  await limiter.acquire({ calls: 1 } as never);
  assert.equal(newEvents('queued'), [{ type: 'queued', permits: { bytes: 0, calls: 1 } }]);
});

timed(
  'a pause and another rate are reported in the process that makes them, and in those that receive them',
  async (clock) => {
    const store = memoryStore();
    const near = watched({ store });
    const far = watched({ store });
    await far.limiter.acquire(2);
    for (let i = 0; i < 9; i++) fateOf(far.limiter.acquire());
    for (const { newEvents } of [near, far]) newEvents();
    await near.limiter.pauseFor(5000);
    assert.equal(near.newEvents('paused'), [{ type: 'paused', ms: 5000 }]);
    await clock.tickAsync(2000);
    const [paused, ...more] = far.newEvents('paused') as unknown as { ms: number }[];
    assert.ok(paused.ms >= 3000 && paused.ms < 5000);
    assert.is(more.length, 0);
    const rate = slidingWindow({ permits: 7, interval: 100 });
    await near.limiter.setRate(rate);
    assert.equal(near.newEvents('rate'), [{ type: 'rate', limit: rate }]);
    await clock.tickAsync(2000);
    assert.equal(far.newEvents('rate', 'paused'), [{ type: 'rate', limit: rate }]);
  },
);

timed('a rate that is stored is reported, and no error', async () => {
  const { limiter, newEvents } = watched();
  const rate = slidingWindow({ permits: 7, interval: 100 });
  await limiter.setRate(rate);
  assert.equal(newEvents(), [{ type: 'rate', limit: rate }]);
});

timed('a pause that ends within 200 ms of the last one is the same pause', async () => {
  for (const [ms, reports] of [
    [1200, 1],
    [1201, 2],
  ]) {
    const { limiter, newEvents } = watched();
    await limiter.pauseFor(1000);
    await limiter.pauseFor(ms);
    assert.is(newEvents('paused').length, reports, `${ms} ms`);
  }
});

timed(
  'each of several pauses is reported that follow each other, or end much later together',
  async (clock) => {
    const { limiter, newEvents } = watched();
    for (let i = 0; i < 10; i++) {
      await limiter.pauseFor(100);
      await clock.tickAsync(120);
    }
    assert.is(newEvents('paused').length, 10);
    await clock.tickAsync(1000);
    for (let i = 0; i < 20; i++) {
      await limiter.pauseFor(500);
      await clock.tickAsync(100);
    }
    // One for each 300 ms by which the end has moved.
    assert.is(newEvents('paused').length, 7);
  },
);

timed('the same rate, stored or read again, is not reported', async () => {
  const { limiter, newEvents } = watched();
  for (let i = 0; i < 3; i++) {
    await limiter.setRate(slidingWindow({ permits: 7, interval: 100 }));
    await limiter.getRate();
    await limiter.tryAcquire();
  }
  assert.is(newEvents('rate').length, 1);
});

timed('an error is reported once, though it fails many requests', async (clock) => {
  const failure = new Error('away');
  const inner = memoryStore();
  const store = {
    open: (config: Parameters<typeof inner.open>[0]) =>
      ledgerWith(inner.open(config), {
        sync: false,
        reserve: (_: unknown, reply: (error: Error) => void) => void setTimeout(() => reply(failure), 5),
      }),
  };
  const { limiter, newEvents } = watched({ store });
  for (let i = 0; i < 3; i++) fateOf(limiter.acquire());
  await clock.tickAsync(10);
  assert.equal(newEvents('error'), [{ type: 'error', error: failure }]);
});

for (const [call, lookUp] of Object.entries({
  decide: (limiter: RateLimiter) => limiter.decide(),
  availablePermits: (limiter: RateLimiter) => limiter.availablePermits(),
  getRate: (limiter: RateLimiter) => limiter.getRate(),
}))
  timed(`a failed ${call} is reported once`, async () => {
    const failure = new Error('away');
    const inner = memoryStore();
    const fail = (...args: unknown[]) => (args.find((arg) => typeof arg === 'function') as Fail)(failure);
    const store = {
      open: (config: Parameters<typeof inner.open>[0]) =>
        ledgerWith(inner.open(config), { sync: false, decide: fail, peek: fail, getRate: fail }),
    };
    const { limiter, newEvents } = watched({ store });
    assert.is(await lookUp(limiter).catch((error) => error), failure);
    assert.equal(newEvents(), [{ type: 'error', error: failure }]);
  });

timed('the events end when the limiter is closed, after what that cancels', async () => {
  const { limiter, newEvents } = watched();
  for (let i = 0; i < 4; i++) fateOf(limiter.acquire());
  newEvents();
  await limiter.close();
  const types = newEvents().map((event) => (event === 'end' ? event : event.type));
  assert.equal(types.filter((type) => type === 'cancelled').length, 2);
  assert.is(types[types.length - 1], 'end');
  let ended = false;
  limiter.events$.subscribe({ complete: () => (ended = true) });
  assert.ok(ended);
});

for (const [call, ask] of Object.entries({
  acquire: (limiter: RateLimiter) => limiter.acquire(),
  tryAcquire: (limiter: RateLimiter): Promise<unknown> => limiter.tryAcquire(),
  decide: (limiter: RateLimiter) => limiter.decide(),
}))
  timed(
    `of ${call}, closing reports what it cancels and what comes meanwhile, and no error`,
    async (clock) => {
      const inner = memoryStore();
      const store = {
        open: (config: Parameters<typeof inner.open>[0]) =>
          ledgerWith(inner.open(config), { sync: false, reserve: () => {} }),
      };
      const { limiter, newEvents } = watched({ store });
      fateOf(limiter.acquire());
      const fates = [fateOf(ask(limiter))];
      newEvents();
      const closing = limiter.close();
      fates.push(fateOf(ask(limiter)));
      assert.equal(newEvents(), Array(3).fill({ type: 'cancelled', permits: 1 }));
      await clock.tickAsync(1000);
      for (const { reason } of fates) assert.instance(reason, LimiterClosedError);
      await closing;
    },
  );

for (const [use, calls] of Object.entries({
  'never used': async () => {},
  'granted at once only': (limiter: RateLimiter) => limiter.acquire(),
  'decided only': (limiter: RateLimiter) => limiter.decide(),
}))
  timed(`the events end for later subscribers of a closed limiter that was ${use}`, async () => {
    const group = new RateLimiterGroup({ name: 'group', limit });
    const [own, key] = [new RateLimiter({ name: 'api', limit }), group.get('a')];
    for (const limiter of [own, key]) await calls(limiter);
    await Promise.all([own.close(), group.close()]);
    for (const { events$ } of [own, key]) {
      let ended = false;
      events$.subscribe({ complete: () => (ended = true) });
      assert.ok(ended);
    }
  });

timed('a subscriber may make requests and unsubscribe during an event', async (clock) => {
  const { limiter, newEvents, subscription } = watched();
  let asked = 0;
  const fates: unknown[] = [];
  limiter.events$.subscribe(({ type }) => {
    if (type === 'granted' && ++asked < 4) fates.push(fateOf(limiter.acquire()));
    if (asked === 3) subscription.unsubscribe();
  });
  fateOf(limiter.acquire());
  await clock.tickAsync(3000);
  assert.is(fates.length, 3);
  assert.is(newEvents('granted').length, 3);
});

test.run();
