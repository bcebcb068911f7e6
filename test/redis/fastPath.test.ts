// The fast path does not read the control of the fleet's ledger: each change of it must reach the next call all the same.
import { setTimeout } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { fixedWindow, RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('changes reach the fast path');
const scopes = ['fleet', 'client'] as const;
const rate = { permits: 9, interval: 600_000 };
const limits = {
  slidingWindow: slidingWindow(rate),
  fixedWindow: fixedWindow(rate),
  tokenBucket: tokenBucket(rate),
};

for (const [kind, limit] of Object.entries(limits))
  for (const scope of scopes)
    for (const other of scopes)
      test(`of a limiter for each ${scope}, changed by one for each ${other}: ${kind}`, async ({
        redis,
        connect,
      }) => {
        const limiter = new RateLimiter({ name: 'api', limit, redis, scope });
        const changing = new RateLimiter({ name: 'api', limit, redis: connect(), scope: other });
        const isGranted = async () => (await limiter.decide()).granted;
        const calls = async () => {
          for (let i = 0; i < 3; i++) assert.ok(await isGranted());
        };
        await calls();
        await changing.pauseFor(60_000);
        assert.is(await isGranted(), false);
        await changing.reset();
        // With the scope `client`, a ledger that knows of the pause continues.
        await calls();
        await changing.setRate(slidingWindow({ permits: 2, interval: 600_000 }));
        assert.is((await limiter.decide()).limit, 2);
        await changing.setRate(slidingWindow({ permits: 100, interval: 600_000 }));
        await calls();
        await changing.pauseFor(60_000);
        assert.is(await isGranted(), false);
        await changing.delete();
        assert.is((await limiter.decide()).limit, 9);
        await Promise.all([limiter.close(), changing.close()]);
      });

test('a change of the control writes nothing to data that are not a small ledger', async ({ redis }) => {
  const limiter = new RateLimiter({ name: 'api', limit: limits.slidingWindow, redis });
  const others = ['x', `s${'\n'.repeat(19)}`, `w${'\n'.repeat(40)}`, `s\t${'x'.repeat(90)}`];
  for (const [i, held] of others.entries()) {
    await redis.set('{sluice:api}', held);
    await limiter.pauseFor(10_000 * (i + 1));
    assert.is(await redis.get('{sluice:api}'), held);
  }
  await redis.del('{sluice:api}');
  await redis.lpush('{sluice:api}', 'x');
  await limiter.pauseFor(60_000);
  assert.is(await redis.llen('{sluice:api}'), 1);
  await limiter.close();
});

test('decisions do not make the ledger of a bucket longer', async ({ redis }) => {
  const limiter = new RateLimiter({ name: 'api', limit: limits.tokenBucket, redis });
  await limiter.decide();
  const length = await redis.strlen('{sluice:api}');
  for (let i = 0; i < 4; i++) {
    await setTimeout(2);
    assert.ok((await limiter.decide()).granted);
  }
  assert.is(await redis.strlen('{sluice:api}'), length);
  await (await limiter.acquire()).refund();
  assert.is(await limiter.availablePermits(), 4);
  await limiter.close();
});

test.run();
