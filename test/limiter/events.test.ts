import { Subject } from 'rxjs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type LimiterEvent,
  memoryStore,
  type Permits,
  RateLimiter,
  type RateLimiterOptions,
  slidingWindow,
  throttleDistributed,
  tokenBucket,
} from '../../src/index.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';

const limit = slidingWindow({ permits: 2, interval: 1000, resolution: 1 });
const start = 1_700_000_000_000;

/** A limiter, and its events from now on, without the name that all of them have. */
function watched(options: Partial<RateLimiterOptions> = {}) {
  const limiter = new RateLimiter({ name: 'api', limit, ...options });
  const events: (Omit<LimiterEvent, 'limiter'> | 'end')[] = [];
  const heard = limiter.events$.subscribe({
    next({ limiter: name, ...event }) {
      assert.is(name, 'api');
      events.push(event);
    },
    complete: () => events.push('end'),
  });
  /** Those of some types, all since the last look. */
  const told = (...types: string[]) =>
    events.splice(0).filter((event) => event === 'end' || types.length === 0 || types.includes(event.type));
  return { limiter, told, heard };
}

const granted = (ms: number, permits: Permits = 1) => ({
  type: 'granted',
  permits,
  grantedAt: start + ms,
  source: 'memory',
});

timed('a request is queued, and granted at its moment', async (clock) => {
  const { limiter, told } = watched();
  for (const n of [2, 1]) fateOf(limiter.acquire(n));
  assert.equal(told(), [{ type: 'queued', permits: 2 }, granted(0, 2), { type: 'queued', permits: 1 }]);
  await clock.tickAsync(1000);
  assert.equal(told(), [granted(1000)]);
});

timed('what will not wait is denied, what cannot wait so long times out', async (clock) => {
  const { limiter, told } = watched();
  await limiter.acquire(2);
  told();
  await limiter.tryAcquire();
  fateOf(limiter.acquire(1, { timeout: 400 }));
  assert.equal(told('denied', 'timeout'), [
    { type: 'denied', permits: 1, retryAfter: 1000 },
    { type: 'timeout', permits: 1, retryAfter: 1000 },
  ]);
  await clock.tickAsync(100);
  await limiter.decide();
  assert.equal(told(), [{ type: 'denied', permits: 1, retryAfter: 900 }]);
});

timed('a decision that grants does not know its moment', async () => {
  const { limiter, told } = watched();
  await limiter.decide(2);
  assert.equal(told(), [{ type: 'granted', permits: 2, grantedAt: undefined, source: 'memory' }]);
});

timed('who leaves is cancelled, and what was booked for it is refunded', async () => {
  const { limiter, told } = watched();
  await limiter.acquire(2);
  const controller = new AbortController();
  fateOf(limiter.acquire(1, { signal: controller.signal }));
  told();
  controller.abort();
  assert.equal(told(), [
    { type: 'refunded', permits: 1 },
    { type: 'cancelled', permits: 1 },
  ]);
});

timed('each value of a subscription that ends is cancelled', async () => {
  const { limiter, told } = watched();
  const source = new Subject<string>();
  const subscription = source.pipe(throttleDistributed(limiter)).subscribe();
  for (const value of 'abcde') source.next(value);
  told();
  subscription.unsubscribe();
  assert.is(told('cancelled').length, 3);
});

timed('values that operators drop are told of, with why', async (clock) => {
  const { limiter, told } = watched();
  const source = new Subject<string>();
  const drop = (value: string, reason: string) => ({ type: 'dropped', value, reason });
  source.pipe(throttleDistributed(limiter, { maxQueue: 1, overflow: 'dropNewest' })).subscribe();
  for (const value of 'abcd') source.next(value);
  assert.equal(told('dropped'), [drop('d', 'overflow')]);
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
    assert.equal(told('dropped')[0], drop(value, reason), reason);
    values.complete();
    await clock.tickAsync(5000);
  }
});

timed('what is given back is refunded', async () => {
  const { limiter, told } = watched();
  const permit = await limiter.acquire(2);
  told();
  await permit.refund(1);
  await limiter.release(1);
  assert.equal(told(), [
    { type: 'refunded', permits: 1 },
    { type: 'refunded', permits: 1 },
  ]);
});

timed('a record of limits is told as a record', async () => {
  const { limiter, told } = watched({
    limit: { calls: limit, bytes: tokenBucket({ permits: 9, interval: 9 }) },
  });
  await limiter.acquire({ calls: 1 } as never);
  assert.equal(told('queued'), [{ type: 'queued', permits: { bytes: 0, calls: 1 } }]);
});

timed(
  'a pause and another rate are told of where they are made, and where they are heard of',
  async (clock) => {
    const store = memoryStore();
    const near = watched({ store });
    const far = watched({ store });
    await far.limiter.acquire(2);
    for (let i = 0; i < 9; i++) fateOf(far.limiter.acquire());
    for (const { told } of [near, far]) told();
    await near.limiter.pauseFor(5000);
    assert.equal(near.told('paused'), [{ type: 'paused', ms: 5000 }]);
    await clock.tickAsync(2000);
    const [paused, ...more] = far.told('paused') as unknown as { ms: number }[];
    assert.ok(paused.ms >= 3000 && paused.ms < 5000);
    assert.is(more.length, 0);
    const rate = slidingWindow({ permits: 7, interval: 100 });
    await near.limiter.setRate(rate);
    assert.equal(near.told('rate'), [{ type: 'rate', limit: rate }]);
    await clock.tickAsync(2000);
    assert.equal(far.told('rate', 'paused'), [{ type: 'rate', limit: rate }]);
  },
);

timed('the same rate, stored or asked for once more, is no other rate', async () => {
  const { limiter, told } = watched();
  for (let i = 0; i < 3; i++) {
    await limiter.setRate(slidingWindow({ permits: 7, interval: 100 }));
    await limiter.getRate();
    await limiter.tryAcquire();
  }
  assert.is(told('rate').length, 1);
});

timed('an error is told of once, though it refuses many', async (clock) => {
  const failure = new Error('away');
  const inner = memoryStore();
  const store = {
    open: (config: Parameters<typeof inner.open>[0]) =>
      ledgerWith(inner.open(config), {
        sync: false,
        reserve: (_: unknown, reply: (error: Error) => void) => void setTimeout(() => reply(failure), 5),
      }),
  };
  const { limiter, told } = watched({ store });
  for (let i = 0; i < 3; i++) fateOf(limiter.acquire());
  await clock.tickAsync(10);
  assert.equal(told('error'), [{ type: 'error', error: failure }]);
});

timed('the events end when the limiter is closed, after what that cancels', async () => {
  const { limiter, told } = watched();
  for (let i = 0; i < 4; i++) fateOf(limiter.acquire());
  told();
  await limiter.close();
  const types = told().map((event) => (event === 'end' ? event : event.type));
  assert.equal(types.filter((type) => type === 'cancelled').length, 2);
  assert.is(types[types.length - 1], 'end');
  let ended = false;
  limiter.events$.subscribe({ complete: () => (ended = true) });
  assert.ok(ended);
});

timed('one who listens may ask, and leave, as it hears', async (clock) => {
  const { limiter, told, heard } = watched();
  let asked = 0;
  const fates: unknown[] = [];
  limiter.events$.subscribe(({ type }) => {
    if (type === 'granted' && ++asked < 4) fates.push(fateOf(limiter.acquire()));
    if (asked === 3) heard.unsubscribe();
  });
  fateOf(limiter.acquire());
  await clock.tickAsync(3000);
  assert.is(fates.length, 3);
  assert.is(told('granted').length, 3);
});

test.run();
