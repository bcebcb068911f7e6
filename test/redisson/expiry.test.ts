// Fault 7: `value` and `permits` outlive the config, or expire before it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { until } from '../support/until.ts';
import { api, type Client, redissonSuite } from './redissonSuite.ts';
import { stateOf } from './state.ts';

const test = redissonSuite('expiry');

const keys = redissonKeys(api);
const minute = 60_000;
const short = 120;

/** A limiter idle for longer than its keep-alive; the only call was availablePermits. */
async function lookedAt(client: Client, redis: Redis): Promise<void> {
  assert.ok(await client.trySetRate(RateType.OVERALL, 10, short, { keepAlive: short }));
  assert.is(await client.availablePermits(), 10);
  await until('the config has expired', async () => (await redis.exists(keys.config)) === 0);
}

test('the original: the state left by availablePermits outlives the config, and corrupts the next', async ({
  jvm,
  redis,
}) => {
  const client = jvm();
  await lookedAt(client, redis);
  assert.equal(await redis.keys('*'), [keys.value]);
  assert.ok(await client.trySetRate(RateType.OVERALL, 20, minute));
  assert.is(await client.availablePermits(), 10);
});

test('ours: availablePermits leaves nothing behind', async ({ ours, redis }) => {
  const limiter = ours();
  await lookedAt(limiter, redis);
  await until('no key is left', async () => (await redis.dbsize()) === 0);
  assert.ok(await limiter.trySetRate(RateType.OVERALL, 20, minute));
  assert.is(await limiter.availablePermits(), 20);
});

test('ours: state of a JVM client from an expired config does not corrupt the next', async ({
  jvm,
  ours,
  redis,
}) => {
  const client = jvm();
  await lookedAt(client, redis);
  const limiter = ours();
  assert.ok(await limiter.trySetRate(RateType.OVERALL, 20, minute));
  assert.is(await client.availablePermits(), 20);
  assert.is(await limiter.availablePermits(), 20);
});

/** b has taken all permits for a minute while the config was about to expire; then the expiry was removed. */
async function reprieved(a: Client, b: Client): Promise<void> {
  assert.ok(await a.trySetRate(RateType.PER_CLIENT, 2, minute));
  assert.ok(await a.expire(short));
  assert.ok(await b.tryAcquire(2));
  assert.ok(await a.clearExpire());
}

test("the original: another client's state expires before the config, and its permits are granted again", async ({
  jvm,
  redis,
}) => {
  const b = jvm({ clientId: 'b' });
  await reprieved(jvm(), b);
  await until('its state has expired', async () => (await stateOf(redis, 'b')).value === undefined);
  assert.ok(await b.tryAcquire(2));
});

test("ours: another client's state lives as long as the config, or as it counts", async ({ ours, redis }) => {
  const b = ours({ clientId: 'b' });
  await reprieved(ours(), b);
  const { clientPermits } = redissonKeys(api, 'b');
  const left = await redis.pttl(clientPermits);
  assert.ok(left === -1 || left > minute / 2, `lives for ${left} ms`);
  assert.not(await b.tryAcquire());
});

/** Milliseconds to the expiry of the config, `value` and `permits`, at one moment. */
async function lives(redis: Redis): Promise<number[]> {
  const replies = await redis.multi().pttl(keys.config).pttl(keys.value).pttl(keys.permits).exec();
  return replies!.map(([, left]) => left as number);
}

const touches: [string, (limiter: Client) => Promise<unknown>][] = [
  ['acquire', (limiter) => limiter.acquire()],
  ['a refused tryAcquire', (limiter) => limiter.tryAcquire(10)],
  ['release', (limiter) => limiter.release(1)],
  ['availablePermits', (limiter) => limiter.availablePermits()],
];

for (const [what, touch] of touches)
  test(`ours: after ${what}, config and state expire together`, async ({ ours, redis }) => {
    const limiter = ours();
    await limiter.setRate(RateType.OVERALL, 10, minute, { keepAlive: 2 * minute });
    await limiter.acquire(2);
    await redis.pexpire(keys.config, minute);
    await touch(limiter);
    const [config, ...state] = await lives(redis);
    assert.ok(config > minute / 2);
    for (const left of state) assert.ok(left <= config + 5 && left > minute / 2, `${state} and ${config}`);
  });

const endings: [string, (limiter: Client, interval: number) => Promise<unknown>][] = [
  [
    'a keep-alive',
    (limiter, interval) => limiter.setRate(RateType.OVERALL, 4, interval, { keepAlive: minute }),
  ],
  [
    'an expiry',
    async (limiter, interval) => {
      await limiter.setRate(RateType.OVERALL, 4, interval);
      await limiter.expire(minute);
    },
  ],
];

for (const [what, begin] of endings)
  test(`ours: with ${what}, a log that was emptied and refilled expires with the config`, async ({
    ours,
    redis,
  }) => {
    const limiter = ours();
    await begin(limiter, short);
    // Often enough that some of the calls remove expired entries and some do not.
    for (let grants = 0; grants < 60; grants++) {
      await limiter.acquire();
      const [config, ...state] = await lives(redis);
      for (const left of state) assert.ok(left >= config - 2 && left <= config + 5, `${state} and ${config}`);
    }
  });

test('ours: each call renews the keep-alive, to within a thousandth of it', async ({ ours, redis }) => {
  const limiter = ours();
  const keepAlive = 4_096;
  await limiter.setRate(RateType.OVERALL, 2, keepAlive / 2, { keepAlive });
  for (let calls = 0; calls < 40; calls++) {
    const start = performance.now();
    await limiter.tryAcquire();
    const [config] = await lives(redis);
    // Less the time of the two calls.
    const took = performance.now() - start;
    assert.ok(config > keepAlive - 5 - took, `${config} ms, and the calls took ${took} ms`);
    await sleep(5);
  }
  assert.is((await stateOf(redis)).used, 2);
});

test('ours: with a config that expires sooner, or no longer, the state lives as long as it counts', async ({
  ours,
  redis,
}) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 10, minute);
  await redis.pexpire(keys.config, minute / 2);
  for (const persist of [false, true]) {
    await limiter.acquire();
    if (persist) {
      await redis.persist(keys.config);
      await sleep(200);
      await limiter.acquire();
    }
    const [, ...state] = await lives(redis);
    for (const left of state) assert.ok(left === -1 || left > minute - 100, `lives for ${left} ms`);
  }
});

test('ours: expire and clearExpire set config and state at once', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 10, minute);
  await limiter.acquire(2);
  assert.ok(await limiter.expire(minute));
  const left = await lives(redis);
  assert.ok(Math.min(...left) > minute / 2);
  assert.ok(Math.max(...left) - Math.min(...left) <= 5, `${left}`);
  assert.ok(await limiter.clearExpire());
  const [config, ...state] = await lives(redis);
  assert.is(config, -1);
  for (const left of state) assert.ok(left === -1 || left > minute / 2, `lives for ${left} ms`);
});

test('ours: `value` expires with the config', async ({ ours, redis }) => {
  const limiter = ours();
  // A rate that distinguishes this expiry from others.
  await limiter.setRate(RateType.OVERALL, 97, 60, { keepAlive: 60 });
  await limiter.acquire();
  await limiter.acquire();
  let left: unknown;
  do [, left] = (await redis.multi().exists(keys.config).exists(keys.value).exec())!.map(([, n]) => n);
  while ((await redis.exists(keys.config)) === 1);
  [, left] = (await redis.multi().exists(keys.config).exists(keys.value).exec())!.map(([, n]) => n);
  assert.is(left, 0);
});

test('ours: `value` expires with the config after all permits are released', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 10, minute);
  await limiter.expire(minute / 2);
  await limiter.acquire(3);
  await limiter.release(3);
  const [config, value] = await lives(redis);
  assert.ok(value <= config + 2, `${value} and ${config}`);
});

for (const look of [false, true])
  test(`ours: after clearExpire${look ? ' and availablePermits' : ''}, the next use starts a keep-alive`, async ({
    ours,
  }) => {
    const limiter = ours();
    await limiter.setRate(RateType.OVERALL, 10, 1_000, { keepAlive: minute });
    await limiter.acquire();
    await limiter.clearExpire();
    if (look) await limiter.availablePermits();
    assert.is(await limiter.remainTimeToLive(), -1);
    await limiter.acquire();
    assert.ok((await limiter.remainTimeToLive()) > minute / 2);
  });

test.run();
