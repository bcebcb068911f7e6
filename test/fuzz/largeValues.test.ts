import * as assert from 'uvu/assert';
import { RateLimiter, StoreError, slidingWindow } from '../../src/index.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { rejection } from '../support/badInput.ts';
import { worked } from './longLog.ts';

const test = redisSuite('large values');

/** Milliseconds of the server's processor, on a busy machine as well: to read fifty megabytes takes more. */
const bound = 15;
const bytes = 50_000_000;

for (const end of ['', ':control', ':sequence:*'])
  test(`fifty megabytes at {sluice:large}${end}: StoreError, and no call reads them all`, async ({
    redis,
  }) => {
    const limit = slidingWindow({ permits: 10, interval: 60_000 });
    const limiter = new RateLimiter({ name: 'large', limit, redis });
    const calls: (() => Promise<unknown>)[] =
      end === ':sequence:*'
        ? [() => limiter.release(1)]
        : [() => limiter.acquire(), () => limiter.decide(), () => limiter.availablePermits()];
    // Every script is known to the server then.
    for (const call of calls) await call();
    const [key = `{sluice:large}${end}`] = await redis.keys(`{sluice:large}${end}`);
    await redis.del(key);
    // With a ledger, the fast path does not read the control.
    if (end === ':control') await redis.del('{sluice:large}');
    await redis.setrange(key, bytes - 1, 'x');
    for (const call of calls) {
      const before = await worked(redis);
      const error = await rejection(call());
      const took = (await worked(redis)) - before;
      assert.instance(error, StoreError);
      assert.match(error.message, `the key ${key} holds no `);
      assert.ok(took < bound, `${took.toFixed(1)} ms`);
    }
    assert.is(await redis.strlen(key), bytes);
    await limiter.close();
  });

test.run();
