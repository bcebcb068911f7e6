// Calls that the connection sends twice after a lost reply, and permits returned to waiting requests.
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { RedissonRateLimiter } from '../../src/redisson/RedissonRateLimiter.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { startProxy } from '../support/proxy.ts';
import { api, type OnRedisson, redissonSuite } from './redissonSuite.ts';
import { stateOf } from './state.ts';

const test = redissonSuite('resent');
const resent = aboutIoredis(test, 'it sends lost calls again');

const minute = 60_000;

async function behindProxy({ server, connect, afterwards }: OnRedisson) {
  const proxy = await startProxy(server.port);
  const limiter = new RedissonRateLimiter(connect({ port: proxy.port }), api);
  afterwards(async () => {
    await limiter.close();
    await proxy.close();
  });
  await limiter.setRate(RateType.OVERALL, 20, minute);
  return { proxy, limiter };
}

resent('an acquire that is sent twice finds its entries, and takes its permits once', async (context) => {
  const { proxy, limiter } = await behindProxy(context);
  await limiter.acquire(2);
  proxy.cutReplies(1);
  await limiter.acquire(3);
  assert.is(proxy.cuts, 1);
  const { value, used } = await stateOf(context.redis);
  assert.equal({ value, used }, { value: 15, used: 5 });
});

resent('a full or partial refund that is sent twice counts once', async (context) => {
  const { proxy, limiter } = await behindProxy(context);
  const [first, second] = await Promise.all([limiter.acquire(3), limiter.acquire(4)]);
  const third = await limiter.acquire(6);
  for (const [permit, unused, used] of [
    [second, 2, 11],
    [first, 3, 8],
    [third, 6, 2],
  ] as const) {
    proxy.cutReplies(1);
    await permit.refund(unused);
    const state = await stateOf(context.redis);
    assert.equal([state.used, state.value], [used, 20 - used]);
  }
  assert.is(proxy.cuts, 3);
});

resent('a release that is sent twice counts once', async (context) => {
  const { proxy, limiter } = await behindProxy(context);
  await limiter.acquire(8);
  proxy.cutReplies(1);
  await limiter.release(3);
  assert.is(proxy.cuts, 1);
  assert.is(await limiter.availablePermits(), 15);
});

test("requests behind a cancelled head do not wait for the head's moment", async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 5, minute);
  await limiter.acquire(3);
  const aborts = new AbortController();
  const head = limiter.acquire(5, { signal: aborts.signal }).catch(() => 'gone');
  await limiter.availablePermits();
  const behind = limiter.acquire(2);
  aborts.abort();
  assert.is(await head, 'gone');
  assert.ok((await behind).waited < 1_000);
});

test('grants released permits to waiting requests', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 5, minute);
  await limiter.acquire(5);
  const waiting = limiter.acquire(2);
  await limiter.availablePermits();
  await limiter.release(2);
  assert.ok((await waiting).waited < 1_000);
});

test('grants thousands of requests of one turn exactly', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 3_000, minute);
  const granted = await Promise.all(Array.from({ length: 3_500 }, () => limiter.tryAcquire()));
  assert.is(granted.filter(Boolean).length, 3_000);
  const { value, used, log } = await stateOf(redis);
  assert.equal([value, used, log.length], [0, 3_000, 3_000]);
});

test.run();
