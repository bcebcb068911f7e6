import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed } from '../support/fakeTime.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });
const open = () => new RateLimiter({ name: 'api', limit });
const pair = () => new RateLimiter({ name: 'api', limit: { requests: limit, tokens: limit } });

timed('refund() returns all permits', async () => {
  const limiter = open();
  const permit = await limiter.acquire(3);
  await permit.refund();
  assert.is(await limiter.availablePermits(), 5);
});

timed('refund(unused) returns a part of the permits', async () => {
  const limiter = open();
  const permit = await limiter.acquire(4);
  await permit.refund(3);
  assert.is(await limiter.availablePermits(), 4);
});

timed('only the first refund of a permit counts', async () => {
  const limiter = open();
  const [permit] = [await limiter.acquire(2), await limiter.acquire(2)];
  await Promise.all([permit.refund(1), permit.refund(), permit.refund()]);
  await permit.refund();
  assert.is(await limiter.availablePermits(), 2);
});

timed('a refund of nothing changes nothing', async () => {
  const limiter = open();
  const permit = await limiter.acquire(2);
  await permit.refund(0);
  assert.is(await limiter.availablePermits(), 3);
});

timed(
  'a refund of too many permits is an error, after which the right number can still be refunded',
  async () => {
    const limiter = open();
    const permit = await limiter.acquire(2);
    assert.instance(await rejection(permit.refund(3)), RangeError);
    assert.is(await limiter.availablePermits(), 3);
    await permit.refund(2);
    assert.is(await limiter.availablePermits(), 5);
  },
);

timed('a refund lets a waiting request go', async (clock) => {
  const limiter = open();
  const permit = await limiter.acquire(5);
  await permit.refund(2);
  const fate = fateOf(limiter.acquire(2));
  await clock.tickAsync(0);
  assert.is(fate.value?.waited, 0);
});

timed('a refund of permits that have come back adds nothing', async (clock) => {
  const limiter = open();
  const permit = await limiter.acquire(5);
  await clock.tickAsync(1000);
  await limiter.acquire(4);
  await permit.refund();
  assert.is(await limiter.availablePermits(), 1);
});

timed('a permit of several limits is refunded by their names', async () => {
  const limiter = pair();
  const permit = await limiter.acquire({ requests: 1, tokens: 4 });
  await permit.refund({ tokens: 3 });
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 4, tokens: 4 });
});

timed('a permit of several limits refunds what each was charged', async () => {
  const limiter = pair();
  const permit = await limiter.acquire({ tokens: 4 });
  await limiter.acquire({ requests: 2 });
  await permit.refund();
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 3, tokens: 5 });
});

timed('a number is refunded to each limit that was charged', async () => {
  const limiter = pair();
  const permit = await limiter.acquire(3);
  await permit.refund(2);
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 4, tokens: 4 });
  const partly = await limiter.acquire({ requests: 2, tokens: 0 });
  await partly.refund(2);
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 4, tokens: 4 });
});

timed('a permit can be refunded after its limiter was closed', async () => {
  const limiter = open();
  const permit = await limiter.acquire(2);
  await limiter.close();
  await permit.refund();
  assert.is(limiter.stats().queued, 0);
});

test.run();
