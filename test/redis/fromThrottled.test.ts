import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { take } from 'rxjs';
import * as assert from 'uvu/assert';
import { fromThrottled, RateLimiter, RateType, RedissonRateLimiter, slidingWindow } from '../../src/index.ts';
import { byHand, naturals } from '../creation/inputs.ts';
import { until } from '../support/until.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('fromThrottled');
const ten = slidingWindow({ permits: 10, interval: 60_000, resolution: 1 });

test('two processes together pull only as many values as the limit allows', async ({ redis, connect }) => {
  const limiters = [redis, connect()].map(
    (connection) => new RateLimiter({ name: 'api', limit: ten, redis: connection }),
  );
  let pulled = 0;
  function* counted() {
    for (const n of naturals()) {
      pulled++;
      yield n;
    }
  }
  const subscriptions = limiters.map((limiter) => fromThrottled(counted(), limiter).subscribe());
  await until('both have pulled as many values as the limit allows', async () => pulled === 10, { every: 5 });
  await sleep(100);
  assert.is(pulled, 10);
  for (const subscription of subscriptions) subscription.unsubscribe();
  await Promise.all(limiters.map((limiter) => limiter.close()));
});

test('permits for values that are not pulled, or do not arrive, are refunded', async ({ redis }) => {
  const limiter = new RateLimiter({ name: 'api', limit: ten, redis });
  const got: number[] = [];
  await fromThrottled([1, 2, 3, 4], limiter).forEach((n) => void got.push(n));
  await fromThrottled(naturals(), limiter)
    .pipe(take(2))
    .forEach((n) => void got.push(n));
  assert.equal(got, [1, 2, 3, 4, 0, 1]);
  const input = byHand<number>();
  const subscription = fromThrottled(input, limiter).subscribe();
  await until('the value is pulled', async () => input.pulled === 1, { every: 5 });
  assert.is(await limiter.availablePermits(), 3);
  subscription.unsubscribe();
  await until('the permit is refunded', async () => (await limiter.availablePermits()) === 4);
  assert.is(input.pulled, 1);
  assert.is(input.returned, 1);
  await limiter.close();
});

test('prefetched permits cost few calls, and unused ones are all refunded', async ({ redis }) => {
  const limit = slidingWindow({ permits: 2_000, interval: 60_000, resolution: 1 });
  const limiter = new RateLimiter({ name: 'api', limit, redis });
  const got: number[] = [];
  const get = (n: number) => void got.push(n);
  await fromThrottled(naturals(), limiter).pipe(take(700)).forEach(get);
  const { calls } = limiter.stats();
  assert.ok(calls <= 40, `${calls} calls`);
  await fromThrottled(Readable.from(got.slice(0, 100)), limiter).forEach(get);
  assert.equal(got.slice(700), got.slice(0, 100));
  // A call that was in flight at the end still gets its reply.
  await until('all permits are refunded', async () => (await limiter.availablePermits()) === 1_200);
  await limiter.close();
});

test('a late value holds one permit, and no permit is held after the end', async ({ redis }) => {
  const limiter = new RateLimiter({ name: 'api', limit: ten, redis });
  let goOn = () => {};
  const late = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  async function* pages() {
    yield* [1, 2, 3];
    await late;
    yield 4;
  }
  const got: number[] = [];
  // On a slow machine, too, the permit does not become too old.
  const options = { maxAge: 60_000 };
  const done = fromThrottled(pages(), limiter, options).forEach((n) => void got.push(n));
  await until('three values have arrived', async () => got.length === 3, { every: 5 });
  await until('one permit is held', async () => (await limiter.availablePermits()) === 6);
  goOn();
  await done;
  assert.equal(got, [1, 2, 3, 4]);
  await until('no permit is held', async () => (await limiter.availablePermits()) === 6);
  await limiter.close();
});

test("a very late value waits for a new permit; its own was refunded, also on Redisson's keys", async ({
  redis,
}) => {
  const redisson = new RedissonRateLimiter(redis, 'redisson');
  await redisson.trySetRate(RateType.OVERALL, 1, 60_000);
  const one = slidingWindow({ permits: 1, interval: 60_000, resolution: 1 });
  for (const limiter of [new RateLimiter({ name: 'api', limit: one, redis }), redisson]) {
    const input = byHand<number>();
    const got: number[] = [];
    const subscription = fromThrottled(input, limiter, { maxAge: 100 }).subscribe((n) => got.push(n));
    await until('the value is pulled', async () => input.pulled === 1, { every: 5 });
    assert.is(await limiter.availablePermits(), 0);
    await until('the permit is refunded', async () => (await limiter.availablePermits()) === 1, {
      within: 2_000,
    });
    const permit = await limiter.acquire();
    await input.answer({ done: false, value: 5 });
    await sleep(50);
    assert.equal(got, []);
    subscription.unsubscribe();
    assert.is(input.returned, 1);
    await permit.refund();
    await until('no permit is charged', async () => (await limiter.availablePermits()) === 1, {
      within: 2_000,
    });
    await limiter.close();
  }
});

test.run();
