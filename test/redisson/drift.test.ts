// Fault 5: `value` drifts from the log.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { until } from '../support/until.ts';
import { api, type OnRedisson, redissonSuite, takeOneByOne } from './redissonSuite.ts';
import { serverNow, stateOf } from './state.ts';

const test = redissonSuite('drift');

const rate = 10;
const interval = 10_000;

/** Three were granted more than an interval ago with the same random bytes: the log has only one entry. */
async function collided(jvm: OnRedisson['jvm']): Promise<void> {
  const client = jvm({ clockOffset: -2 * interval, random: () => Buffer.alloc(16) });
  await client.setRate(RateType.OVERALL, rate, interval);
  assert.is(await takeOneByOne(client, 3), 3);
}

test('the original: permits whose entry was lost are lost for ever', async ({ jvm }) => {
  await collided(jvm);
  assert.is(await takeOneByOne(jvm(), rate), rate - 2);
});

test('ours: permits whose entry was lost are available again', async ({ jvm, ours, redis }) => {
  await collided(jvm);
  const limiter = ours();
  assert.is(await limiter.availablePermits(), rate);
  assert.is(await takeOneByOne(limiter, rate + 1), rate);
  const { value, used } = await stateOf(redis);
  assert.equal({ value, used }, { value: 0, used: rate });
});

/** The rate was lowered from 10 to 5 when 3 and 5 were taken; by now the 3 have expired. */
async function overdrawn(jvm: OnRedisson['jvm']): Promise<void> {
  const at = (ago: number) => jvm({ clockOffset: -ago });
  await at(interval).setRate(RateType.OVERALL, 10, interval);
  await at(interval).acquire(3);
  await at(interval / 2).acquire(5);
  assert.ok(await at(interval / 4).updateRate(RateType.OVERALL, 5, interval, { keepState: true }));
}

test('the original: a lowered rate returns permits that it had not subtracted', async ({ jvm, redis }) => {
  await overdrawn(jvm);
  assert.ok(await jvm().tryAcquire(3));
  assert.is((await stateOf(redis)).used, 8);
});

test('ours: a lowered rate holds', async ({ jvm, ours, redis }) => {
  await overdrawn(jvm);
  const limiter = ours();
  assert.is(await limiter.availablePermits(), 0);
  assert.not(await limiter.tryAcquire());
  assert.is((await stateOf(redis)).used, 5);
});

/** A log of so many entries of five permits each, on a limiter of twice that many; `value` is set as given. */
async function longLog(jvm: OnRedisson['jvm'], entries: number, keepAlive = 0): Promise<void> {
  const client = jvm();
  await client.setRate(RateType.OVERALL, 10 * entries, 6 * interval, { keepAlive });
  await Promise.all(Array.from({ length: entries }, () => client.acquire(5)));
}

/** Whether `value` agrees with the log. */
async function agree(redis: Redis): Promise<boolean> {
  const { value, used } = await stateOf(redis);
  return value === Number(await redis.hget(api, 'rate')) - used;
}

for (const entries of [99, 1_000, 7_000])
  test(`ours: corrects a \`value\` changed by a JVM client at once, with a log of ${entries}`, async ({
    jvm,
    ours,
    redis,
  }) => {
    await longLog(jvm, entries);
    // Fewer are taken than the log says, but the free permits are no more than if each entry held one.
    await redis.incrby(redissonKeys(api).value, entries);
    const limiter = ours();
    assert.not(await limiter.tryAcquire(5 * entries + 1));
    assert.ok(await agree(redis));
    assert.ok(await limiter.tryAcquire(5 * entries));
    // A JVM client lowers the rate, and subtracts less than it should.
    assert.ok(await jvm().updateRate(RateType.OVERALL, 8 * entries, 6 * interval, { keepState: true }));
    assert.not(await limiter.tryAcquire());
    assert.is(await limiter.availablePermits(), 0);
  });

for (const keepAlive of [0, 6 * interval])
  test(`ours: does not count a long log again right after a count (keep-alive ${keepAlive})`, async ({
    jvm,
    ours,
    redis,
  }) => {
    const entries = 2_000;
    await longLog(jvm, entries, keepAlive);
    const limiter = ours();
    const counted = `{${api}}:counted`;
    const { value } = redissonKeys(api);
    const mark = await until('the mark of a count is read within its 20 ms', async () => {
      // Without its seal, so that the log is counted.
      await redis.set(value, (await redis.get(value))!);
      await limiter.tryAcquire();
      return redis.get(counted);
    });
    const till = Number(mark.split(' ')[0]);
    assert.ok(till <= (await serverNow(redis)) * 1000 + 10 * entries);
    const makeAnew = async (left: number) => {
      await redis.set(counted, `${till + 1e9} ${10 * entries}`, 'PX', 6 * interval);
      await redis.set(value, left);
      // So that some of the keep-alive remains to be refunded.
      await sleep(3);
    };
    await makeAnew(0);
    assert.not(await limiter.tryAcquire());
    // A value that contradicts the log is never trusted.
    await makeAnew(9 * entries);
    assert.not(await limiter.tryAcquire(5 * entries));
    await makeAnew(0);
    assert.not(await limiter.tryAcquire());
    await redis.del(counted);
    assert.ok(await limiter.tryAcquire());
    assert.ok(await agree(redis));
  });

test('ours: the seal of `value` names its rate, and any change of `value` removes it', async ({
  jvm,
  ours,
  redis,
}) => {
  const limiter = ours();
  const client = jvm();
  const seal = async () => Number(await redis.call('PEXPIRETIME', redissonKeys(api).value));
  /** Milliseconds that stand for one permit of the rate. */
  const step = 60_000;
  await limiter.setRate(RateType.OVERALL, rate, interval);
  await limiter.acquire();
  const sealed = await seal();
  assert.ok(sealed > Date.now());
  await limiter.updateRate(RateType.OVERALL, rate + 7, interval, { keepState: true });
  assert.is(await seal(), sealed + 7 * step);
  await client.acquire();
  await limiter.acquire();
  await limiter.release(1);
  assert.is(await seal(), sealed + 7 * step);
  await client.release(1);
  assert.is(await seal(), -1);
  await limiter.acquire();
  assert.is(await seal(), sealed + 7 * step);
});

test('ours: a `value` whose expiry a cluster has shifted as it moved the key is counted again', async ({
  ours,
  redis,
}) => {
  const limiter = ours();
  const { value } = redissonKeys(api);
  await limiter.setRate(RateType.OVERALL, rate, interval);
  await limiter.acquire();
  for (const shift of [1, 40, -1, -50]) {
    // As MIGRATE does, to a node whose clock differs.
    const [data, life] = [await redis.dumpBuffer(value), await redis.pttl(value)];
    await redis.restore(value, life + shift, data, 'REPLACE');
    assert.is(await limiter.availablePermits(), rate - 1, `after ${shift} ms`);
    assert.ok(await limiter.tryAcquire());
    assert.is(await limiter.availablePermits(), rate - 2);
    await limiter.release(1);
  }
});

test('ours: with a config that expires, a known `value` is recorded, and nothing outlives the config', async ({
  jvm,
  ours,
  redis,
}) => {
  const limiter = ours();
  const client = jvm();
  const { config, value } = redissonKeys(api);
  const known = async () => {
    const mark = await redis.get(`{${api}}:counted`);
    const before = (await redis.pexpiretime(config)) - (await redis.pexpiretime(value));
    assert.ok(before >= -1 && before <= 1, `${before} ms before the config`);
    return before === 1 && mark?.slice(16) === ` ${(await limiter.getConfig()).rate}`;
  };
  await limiter.setRate(RateType.OVERALL, rate, interval, { keepAlive: 2 * interval });
  for (const takes of [limiter, limiter, client, limiter]) {
    await takes.acquire();
    assert.is(await known(), takes === limiter);
  }
  await limiter.updateRate(RateType.OVERALL, rate + 7, interval, {
    keepState: true,
    keepAlive: 2 * interval,
  });
  assert.ok(await known());
});

test.run();
