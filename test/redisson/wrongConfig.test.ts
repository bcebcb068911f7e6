// Invalid stored data is rejected, and no script runs for long because of it.
import * as assert from 'uvu/assert';
import { RateType, type RedissonRateLimiter, StoreError } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { plainTexts } from './plainTexts.ts';
import { api, redissonSuite } from './redissonSuite.ts';
import { serverNow, stateOf } from './state.ts';

const test = redissonSuite('wrong config');

const minute = 60_000;
const keys = redissonKeys(api);
const noNumbers = ['nan', '-nan', 'inf', '-inf', '-1', '0.5', 'x', '', '0x10', '1e3', ' 7', '99 '];
const wrong: Record<string, readonly string[]> = {
  rate: [...noNumbers, '0'],
  interval: [...noNumbers, '0'],
  type: [...noNumbers, '2'],
  keepAliveTime: noNumbers,
};

const calls: [string, (limiter: RedissonRateLimiter) => Promise<unknown>][] = [
  ['one permit', (limiter) => limiter.acquire()],
  ['one permit at once', (limiter) => limiter.tryAcquire()],
  ['requests together', (limiter) => Promise.all([limiter.acquire(), limiter.tryAcquire(2)])],
  ['release', (limiter) => limiter.release(1)],
  ['availablePermits', (limiter) => limiter.availablePermits()],
  ['getConfig', (limiter) => limiter.getConfig()],
];

for (const [field, values] of Object.entries(wrong))
  for (const keepAlive of field === 'type' ? [0] : [0, 2 * minute])
    test(`rejects an invalid stored ${field}, with a keep-alive of ${keepAlive} ms`, async ({
      ours,
      redis,
    }) => {
      const limiter = ours();
      for (const value of values) {
        await redis.flushall();
        await limiter.setRate(RateType.OVERALL, 5, minute, { keepAlive });
        // All permits are taken: the next request would have to wait.
        await limiter.acquire(5);
        await redis.hset(keys.config, field, value);
        for (const [what, call] of calls) {
          const error = await rejection(call(limiter));
          const hint = `${what}, ${JSON.stringify(value)}: ${error.message}`;
          assert.instance(error, StoreError, hint);
          for (const said of [`"${api}"`, `key ${keys.config}`, `expected ${field} to be`, 'got '])
            assert.ok(error.message.includes(said), hint);
        }
        assert.is((await stateOf(redis)).used, 5);
        // setting a rate repairs the config, and earlier grants keep counting
        await limiter.setRate(RateType.OVERALL, 6, minute, { keepState: true });
        assert.ok(await limiter.tryAcquire());
        assert.not(await limiter.tryAcquire());
      }
    });

test('a `value` that is no number is counted again, sealed or not', async ({ ours, redis }) => {
  const limiter = ours();
  for (const value of ['nan', 'inf', '-inf', 'x', '', '1e3', '2.5'])
    for (const keepsTtl of [true, false]) {
      await redis.flushall();
      await limiter.setRate(RateType.OVERALL, 5, minute);
      await limiter.acquire(3);
      if (keepsTtl) await redis.set(keys.value, value, 'KEEPTTL');
      else await redis.set(keys.value, value);
      assert.ok(await limiter.tryAcquire(2), value);
      assert.not(await limiter.tryAcquire());
      assert.is((await stateOf(redis)).value, 0);
    }
});

test('rejects an entry too short to hold permits, until a rate is set', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 5, minute);
  await limiter.acquire(3);
  await redis.zadd(keys.permits, await serverNow(redis), 'abc');
  await redis.del(keys.value);
  for (const call of [limiter.tryAcquire(), limiter.release(1), limiter.availablePermits()]) {
    const error = await rejection(call);
    assert.instance(error, StoreError);
    assert.match(error.message, /"api".*key api: expected each entry of its log to hold permits/);
  }
  await limiter.setRate(RateType.OVERALL, 5, minute);
  assert.is(await limiter.availablePermits(), 5);
});

for (const score of ['+inf', '-inf', 1e300, -1e300, 1.5])
  test(`an entry with the moment ${score} neither fails a call nor grants too much`, async ({
    ours,
    redis,
  }) => {
    const limiter = ours();
    await limiter.setRate(RateType.OVERALL, 5, minute);
    await limiter.acquire(2);
    const member = Buffer.concat([Buffer.from([16]), Buffer.alloc(16, 1), Buffer.from([2, 0, 0, 0])]);
    await redis.zadd(keys.permits, score, member);
    await redis.del(keys.value);
    const isAhead = Number(String(score).replace('inf', 'Infinity')) > Date.now();
    assert.is(await limiter.availablePermits(), isAhead ? 1 : 3);
    assert.not(await limiter.tryAcquire(4));
    assert.ok(await limiter.tryAcquire(isAhead ? 1 : 3));
  });

test('every loop of the scripts has a bound computed before it begins', () => {
  for (const [name, text] of Object.entries(plainTexts)) {
    assert.not.match(text, /\b(while|repeat|goto)\b/, name);
    // A bound is a count of arguments, the reply length of one bounded command, or a constant.
    for (const [, bound] of text.matchAll(/\bfor\b([^\n]*)\bdo\b/g))
      assert.not.match(bound, /huge|rate|interval/, name);
  }
});

test.run();
