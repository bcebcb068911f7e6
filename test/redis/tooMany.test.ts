import * as assert from 'uvu/assert';
import {
  memoryStore,
  PermitsExceedLimitError,
  RateLimiter,
  type RateLimiterOptions,
  slidingWindow,
} from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { lateStore } from '../support/lateStore.ts';
import { type OnRedis, redisSuite } from './redisSuite.ts';

const test = redisSuite('more permits than the limit');
const two = slidingWindow({ permits: 2, interval: 3_600_000 });
const nine = slidingWindow({ permits: 9, interval: 3_600_000 });

type Call = (limiter: RateLimiter<string>) => Promise<unknown>;
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

/** The error of a call that asks for too much. */
async function refused(options: RateLimiterOptions<string>, call: Call) {
  const limiter = new RateLimiter(options);
  const error = (await rejection(call(limiter))) as PermitsExceedLimitError;
  await limiter.close();
  assert.instance(error, PermitsExceedLimitError);
  return error;
}

for (const [where, storeOf] of Object.entries(stores)) {
  for (const [name, call] of Object.entries(several))
    test(`${where}, the error of ${name} of several limits has the permits of each`, async (context) => {
      const limit = { a: two, b: nine };
      const error = await refused({ name: 'api', limit, ...storeOf(context) }, call);
      assert.equal(error.permits, { a: 3, b: name.endsWith('number') ? 3 : 0 });
      assert.equal(error.limit, { a: 2, b: 9 });
    });
}

test.run();
