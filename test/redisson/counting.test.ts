// A log that takes several calls to count: no grant exceeds the limit meanwhile, and then `value` is right.
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { api, redissonSuite } from './redissonSuite.ts';
import { tried } from './runs.ts';
import { fillLog, longestScript, serverNow, stateOf } from './state.ts';
import { timedLedger } from './timedLedger.ts';

const test = redissonSuite('counting');

const keys = redissonKeys(api);
const minute = 60_000;

test('a `value` that is lost with a very long log', async ({ jvm, ours, redis }) => {
  const [rate, size] = [40_010, 40_000];
  await jvm().setRate(RateType.OVERALL, rate, minute);
  await fillLog(redis, size, await serverNow(redis));
  await redis.del(keys.value);
  const counted = `{${api}}:counted`;
  await redis.set(counted, rate);
  const limiter = ours();
  assert.not(await limiter.tryAcquire());
  // The earlier count is void now, whatever a JVM client makes of `value`.
  assert.is(await redis.exists(counted), 0);
  assert.is(await limiter.availablePermits(), 0);
  assert.not(await jvm().tryAcquire());
  await limiter.acquire(10);
  const { value, used } = await stateOf(redis);
  assert.equal([value, used], [0, rate]);
  assert.is(await redis.hlen(keys.config), 4);
});

test('a call that counts reads 8,000 entries at most, however long the log', async ({ ours, redis }) => {
  const limiter = ours();
  const size = 100_000;
  await limiter.setRate(RateType.OVERALL, size + 1, minute);
  await limiter.tryAcquire();
  const read = "return #redis.call('zrange', KEYS[1], 0, -1, 'withscores')";
  const runs: number[] = [];
  const all: number[] = [];
  for (let run = 0; run < 2; run++) {
    await redis.del(keys.value, keys.permits);
    await fillLog(redis, size, await serverNow(redis));
    await redis.del(keys.value);
    all.push(await longestScript(redis, () => redis.eval(read, 1, keys.permits)));
    runs.push(await longestScript(redis, () => limiter.acquire()));
  }
  // Compared with reading all: on a busy machine, one measurement may be slow.
  assert.ok(Math.min(...runs) < Math.max(...all) / 2, `${runs} ms, and ${all} to read all`);
});

const start = 1_700_000_000_007_000;
const interval = 100;
const rate = 40;
const sizes = fc.integer({ min: 1, max: 3 });
const step = fc.oneof(
  fc.record({ what: fc.constant('ask' as const), permits: sizes }),
  fc.record({ what: fc.constant('ask' as const), permits: sizes }),
  fc.record({ what: fc.constant('tick' as const), ms: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ what: fc.constant('jvm' as const), permits: sizes, ago: fc.integer({ min: 0, max: 90 }) }),
  fc.record({ what: fc.constant('purge' as const) }),
  fc.record({ what: fc.constant('release' as const), permits: sizes }),
  fc.record({ what: fc.constant('refund' as const), permits: sizes }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const add = `
redis.call('ZADD', KEYS[2], ARGV[1], struct.pack('Bc0I', #ARGV[2], ARGV[2], ARGV[3]))
redis.call('DECRBY', KEYS[1], ARGV[3])`;
/** Removes expired entries as a JVM client does: it adds their permits to `value`, without a check of `value`. */
const purge = `
local sum = 0
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[1])) do
  local _, permits = struct.unpack('Bc0I', member)
  sum = sum + permits
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], 0, ARGV[1])
redis.call('SET', KEYS[1], redis.call('GET', KEYS[1]) + sum)`;

async function replay(redis: Redis, sizesBefore: readonly number[], steps: readonly Step[]): Promise<void> {
  await redis.flushall();
  // A log of a few entries is very long here.
  const ledger = timedLedger(redis, (lua) => lua.replace(/MOST_COUNTED = \d+/, 'MOST_COUNTED = 4'));
  let us = start;
  let entries = 0;
  const jvm = (at: number, permits: number) =>
    redis.eval(add, 2, keys.value, keys.permits, at, `${entries++}`.padStart(16, '0'), permits);
  const live = async () => {
    const { log } = await stateOf(redis);
    const now = Math.floor(us / 1000);
    return log.reduce((sum, { at, permits }) => (at > now - interval ? sum + permits : sum), 0);
  };
  const ask = async (permits: number) => {
    const { fates } = await ledger.acquire([{ count: 1, cost: [permits], maxWait: 0 }]);
    return fates[0].granted === 1;
  };
  await ledger.setTime(us);
  await ledger.setRate('new', rate, interval, false);
  const { reply } = await ledger.acquire([{ count: 3, cost: [3], maxWait: 0 }]);
  for (const [i, permits] of sizesBefore.entries()) await jvm(us / 1000 - 3 * i, permits);
  await redis.del(keys.value);
  await ask(1);
  for (const one of steps) {
    const before = await live();
    if (one.what === 'ask') {
      if (await ask(one.permits)) assert.ok(before + one.permits <= rate, `${one.permits} beside ${before}`);
    } else if (one.what === 'jvm') await jvm(us / 1000 - one.ago, one.permits);
    else if (one.what === 'purge')
      await redis.eval(purge, 2, keys.value, keys.permits, Math.floor(us / 1000) - interval);
    else if (one.what === 'release') await ledger.release(one.permits);
    else if (one.what === 'refund') await ledger.refund(start / 1000, reply.epoch, one.permits);
    else {
      us += one.ms * 1000;
      await ledger.setTime(us);
    }
  }
  for (let calls = 0; calls < 40; calls++) await ask(rate + 1);
  const { value, used } = await stateOf(redis);
  assert.is(value ?? rate, rate - used);
  assert.is(await ledger.available(), Math.max(0, rate - (await live())));
}

test('never grants too much while a log is counted, and finishes the count', async ({ redis }) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sizes, { minLength: 5, maxLength: 30 }),
      fc.array(step, { maxLength: 20 }),
      (before, steps) => replay(redis, before, steps),
    ),
    tried(50),
  );
});

test.run();
