import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { RedissonRateLimiter } from '../../src/redisson/RedissonRateLimiter.ts';
import { RefundNumbers } from '../../src/redisson/refundNumbers.ts';
import { redissonSuite } from './redissonSuite.ts';

const test = redissonSuite('numbers of refunds');

test('a refund that is sent again has its number, and the next one of a call another', () => {
  const numbers = new RefundNumbers();
  assert.is(numbers.next([1, 2], 3), 4);
  assert.is(numbers.next([1, 2], 3), 4);
  // The remainder of both is that of the first one.
  assert.is(numbers.next([2], 3 + 255), 5);
  assert.is(numbers.next([1], 3 + 255), 5);
  assert.is(numbers.next([1, 2], 4 + 255), 6);
  assert.is(numbers.next([3], 254), 255);
  assert.is(numbers.next([3], 254 + 255), 1);
});

test('the calls of long ago are forgotten', () => {
  const numbers = new RefundNumbers();
  const first = numbers.next([-1], 254);
  for (let call = 0; call < 4096; call++) numbers.next([call], 1 + call);
  assert.is(numbers.next([-1], 254 + 255), first);
});

test('the second refund of grants of one call counts after any number of others', async ({ redis }) => {
  for (const others of [253, 254, 255]) {
    const limiter = new RedissonRateLimiter(redis, `after ${others}`);
    await limiter.setRate(RateType.OVERALL, 1000, 600_000);
    await limiter.acquire();
    const [one, other] = await Promise.all([limiter.acquire(2), limiter.acquire(2)]);
    const permits = await Promise.all(Array.from({ length: others }, () => limiter.acquire()));
    await one.refund(1);
    for (const permit of permits) await permit.refund();
    const before = await limiter.availablePermits();
    await other.refund(1);
    assert.is(await limiter.availablePermits(), before + 1, `${others} others`);
    await limiter.close();
  }
});

test.run();
