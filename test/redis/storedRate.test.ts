import * as assert from 'uvu/assert';
import { RateLimiter, RateLimiterGroup, StoreError, slidingWindow } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { controlString } from './controlString.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('an invalid stored rate');
const limit = slidingWindow({ permits: 5, interval: 60_000, resolution: 1 });

/** Texts that no version of this package has stored. */
const texts = [
  '[[',
  '[[]]',
  '[[1,"s",5,1000,1]]',
  '[["","x",5,1000,1]]',
  '[["","s",0,1000,1]]',
  '[["","s","5",1000,1]]',
  '[["","s",5,-1000,1]]',
  '[["","s",1e400,1000,1]]',
  '[["","s",5,1000,5000]]',
  '[["","t",5,1000]]',
  '[["","t",5,1000,1e300]]',
];

for (const text of texts)
  test(`${text} does not count as an outage of Redis, which a fallback would hide`, async ({ redis }) => {
    const limiter = new RateLimiter({ name: 'api', limit, redis, fallback: 'local' });
    const group = new RateLimiterGroup({ name: 'group', limit, redis, fallback: 'allow' });
    await redis.set('{sluice:api}:control', controlString({ spec: text }));
    await redis.set('{sluice:group%:a}:control', controlString({ spec: text }));
    const calls: [string, string, () => Promise<unknown>][] = [
      ['"api"', '{sluice:api}:control', () => limiter.acquire()],
      ['"api"', '{sluice:api}:control', () => limiter.tryAcquire()],
      ['"api"', '{sluice:api}:control', () => limiter.decide()],
      ['"api"', '{sluice:api}:control', () => limiter.availablePermits()],
      ['"api"', '{sluice:api}:control', () => limiter.getRate()],
      ['"api"', '{sluice:api}:control', () => limiter.release(1)],
      ['"group', '{sluice:group%:a}:control', () => group.get('a').acquire()],
    ];
    for (const [name, key, call] of calls) {
      const error = await rejection(call());
      assert.instance(error, StoreError);
      assert.match(error.message, name);
      assert.match(error.message, `the key ${key} holds no rate: expected [[name, kind, permits, interval,`);
      assert.instance(error.cause, TypeError);
    }
    // Other keys of the group still work, and so does the limiter with a new rate.
    await group.get('b').acquire();
    await limiter.setRate(limit);
    assert.is((await limiter.acquire()).source, 'redis');
    await redis.set('{sluice:api}:control', controlString({ spec: text }));
    await limiter.delete();
    assert.is((await limiter.acquire()).source, 'redis');
    await Promise.all([limiter.close(), group.close()]);
  });

for (const text of ['garbage', '{}', '[]', '0', 'null'])
  test(`a control with ${text} as its rate is invalid`, async ({ redis }) => {
    const limiter = new RateLimiter({ name: 'api', limit, redis, fallback: 'allow' });
    await redis.set('{sluice:api}:control', controlString({ spec: text }));
    for (const call of [() => limiter.acquire(), () => limiter.getRate(), () => limiter.reset()]) {
      const error = await rejection(call());
      assert.instance(error, StoreError);
      assert.match(error.message, 'the key {sluice:api}:control holds no control of version 2');
    }
    await limiter.delete();
    assert.is((await limiter.getRate()).stored, false);
    await limiter.close();
  });

test.run();
