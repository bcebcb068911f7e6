import * as assert from 'uvu/assert';
import {
  type LimiterEvent,
  memoryStore,
  PermitsExceedLimitError,
  permits$,
  RateLimiter,
  type RateLimiterOptions,
  slidingWindow,
  throttleDistributed,
} from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { lateStore } from '../support/lateStore.ts';
import { type OnRedis, redisSuite } from './redisSuite.ts';

const test = redisSuite('more permits than the limit');
const two = slidingWindow({ permits: 2, interval: 3_600_000 });
const nine = slidingWindow({ permits: 9, interval: 3_600_000 });

type Call = (limiter: RateLimiter<string>) => Promise<unknown>;
const single: Record<string, Call> = {
  acquire: (limiter) => limiter.acquire(3),
  'acquire with a timeout': (limiter) => limiter.acquire(3, { timeout: 50 }),
  tryAcquire: (limiter) => limiter.tryAcquire(3),
  'tryAcquire with a timeout': (limiter) => limiter.tryAcquire(3, { timeout: 50 }),
  decide: (limiter) => limiter.decide(3),
  wrap: (limiter) => limiter.wrap(() => 0, { permits: 3 })(),
  permits$: (limiter) => new Promise((_, error) => permits$(limiter, 3).subscribe({ error })),
};
const several: Record<string, Call> = {
  'acquire, a number': (limiter) => limiter.acquire(3),
  'decide, a number': (limiter) => limiter.decide(3),
  'acquire, a record': (limiter) => limiter.acquire({ a: 3 }),
  'tryAcquire, a record': (limiter) => limiter.tryAcquire({ a: 3 }),
  'decide, a record': (limiter) => limiter.decide({ a: 3 }),
};
const stores: Record<string, (context: OnRedis) => Partial<RateLimiterOptions>> = {
  'in this process': () => ({}),
  'in a late store': () => ({ store: lateStore(memoryStore()) }),
  'over Redis': ({ redis }) => ({ redis }),
};

/** The error of a call that asks for too much, and the events of the limiter. */
async function refused(options: RateLimiterOptions<string>, call: Call) {
  const limiter = new RateLimiter(options);
  const events: LimiterEvent[] = [];
  limiter.events$.subscribe((event) => events.push(event));
  const error = (await rejection(call(limiter))) as PermitsExceedLimitError;
  await limiter.close();
  assert.instance(error, PermitsExceedLimitError);
  return { error, events };
}

for (const [where, storeOf] of Object.entries(stores)) {
  for (const [name, call] of Object.entries(single))
    test(`${where}, ${name} is reported as an error, never as a denial`, async (context) => {
      const { error, events } = await refused({ name: 'api', limit: two, ...storeOf(context) }, call);
      assert.equal([error.permits, error.limit], [3, 2]);
      const types = events.map(({ type }) => type);
      assert.equal(
        types.filter((type) => type !== 'queued'),
        ['error'],
      );
      assert.is((events.at(-1) as { error?: unknown }).error, error);
      // Elsewhere, a higher rate may be stored: the store decides.
      if (where === 'in this process') assert.is(types.length, 1);
    });
  for (const [name, call] of Object.entries(several))
    test(`${where}, the error of ${name} of several limits has the permits of each`, async (context) => {
      const limit = { a: two, b: nine };
      const { error } = await refused({ name: 'api', limit, ...storeOf(context) }, call);
      assert.equal(error.permits, { a: 3, b: name.endsWith('number') ? 3 : 0 });
      assert.equal(error.limit, { a: 2, b: 9 });
    });
}

test('a function or an operator with too many permits reports nothing until it makes a request', () => {
  const limiter = new RateLimiter({ name: 'api', limit: two });
  const events: LimiterEvent[] = [];
  limiter.events$.subscribe((event) => events.push(event));
  limiter.wrap(() => 0, { permits: 3 });
  throttleDistributed(limiter, { permits: 3 });
  assert.equal(events, []);
});

test.run();
