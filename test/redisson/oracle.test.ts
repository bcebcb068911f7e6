// The scripts compared with a plain log, at times set by the test.
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { redissonKeys } from '../support/redissonKeys.ts';
import { Oracle } from './oracle.ts';
import { redissonSuite } from './redissonSuite.ts';
import { tried } from './runs.ts';
import { stateOf } from './state.ts';
import { timedLedger } from './timedLedger.ts';

const test = redissonSuite('oracle');

const start = 1_700_000_000_007_000;

const run = (mostRequests: number, mostPermits: number) =>
  fc.record({
    count: fc.integer({ min: 1, max: mostRequests }),
    cost: fc.tuple(fc.integer({ min: 1, max: mostPermits })),
    maxWait: fc.constantFrom(0, 0, 3, 40, Infinity, Infinity),
  });

const steps = (mostRequests: number, mostPermits: number, most: number) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        what: fc.constant('acquire' as const),
        runs: fc.oneof(
          fc.array(run(mostRequests, mostPermits), { minLength: 1, maxLength: 4 }),
          // A single request, the most frequent call, has a code path of its own.
          fc.tuple(run(1, mostPermits)),
        ),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        what: fc.constant('tick' as const),
        // Mostly whole milliseconds, so that moments coincide with the ends of windows.
        us: fc.oneof(
          fc.integer({ min: 1, max: 15 }).map((tens) => tens * 10_000),
          fc.integer({ min: 1, max: 40_000 }),
        ),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        what: fc.constant('refund' as const),
        back: fc.nat({ max: 5 }),
        permits: fc.integer({ min: 1, max: 3 * mostPermits }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        what: fc.constant('release' as const),
        permits: fc.integer({ min: 1, max: most / 2 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        what: fc.constant('rate' as const),
        rate: fc.integer({ min: 5, max: most }),
        interval: fc.integer({ min: 1, max: 12 }).map((tens) => tens * 10),
        keepState: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ what: 'look' as const }) },
    {
      weight: 1,
      arbitrary: fc.record({
        what: fc.constant('lost' as const),
        value: fc.option(fc.integer({ min: -most, max: most })),
      }),
    },
  );

type Step = ReturnType<typeof steps> extends fc.Arbitrary<infer T> ? T : never;

async function replay(
  redis: Redis,
  history: readonly Step[],
  most: number,
  change?: (lua: string) => string,
): Promise<void> {
  await redis.flushall();
  const ledger = timedLedger(redis, change);
  const oracle = new Oracle(most, 100);
  let us = start;
  const calls: { call: number; moment: number }[] = [];
  await ledger.setTime(us);
  await ledger.setRate('new', oracle.rate, oracle.interval, false);
  for (const step of history) {
    const now = Math.floor(us / 1000);
    oracle.expire(now);
    if (step.what === 'tick') {
      us += step.us;
      await ledger.setTime(us);
      continue;
    }
    if (step.what === 'acquire') {
      const before = oracle.log.length;
      const { reply, fates } = await ledger.acquire(step.runs);
      const expected = oracle.acquire(step.runs, us, reply.epoch);
      assert.equal(fates, expected.fates);
      assert.ok(
        Math.abs(reply.retryAfter! - expected.wait) < 0.002,
        `${reply.retryAfter}, not ${expected.wait}`,
      );
      assert.is(reply.now, us / 1000);
      if (oracle.log.length > before) calls.push({ call: reply.epoch, moment: Math.ceil(us / 1000) });
    } else if (step.what === 'refund') {
      const one = calls.at(-1 - step.back);
      if (one) {
        await ledger.refund(one.moment, one.call, step.permits);
        oracle.takeBack(step.permits, ({ call }) => call === one.call);
      }
    } else if (step.what === 'release') {
      await ledger.release(step.permits);
      oracle.takeBack(step.permits);
    } else if (step.what === 'rate') {
      // Expired entries leave the log: within a longer interval they would count again.
      await ledger.available();
      await ledger.setRate('known', step.rate, step.interval, step.keepState);
      [oracle.rate, oracle.interval] = [step.rate, step.interval];
      if (!step.keepState) oracle.log = [];
    } else if (step.what === 'lost') {
      const { value } = redissonKeys('api');
      if (step.value === null) await redis.del(value);
      else await redis.set(value, step.value);
      await ledger.acquire([]);
    }
    oracle.expire(now);
    if (step.what === 'look') assert.is(await ledger.available(), oracle.available);
    // Before any call that could correct it.
    const { value, log, used } = await stateOf(redis);
    const live = log.reduce((sum, { at, permits }) => (at > now - oracle.interval ? sum + permits : sum), 0);
    assert.is(live, oracle.used, `log after ${step.what}`);
    assert.ok(log.every((entry) => entry.permits > 0));
    assert.is(value ?? oracle.rate, oracle.rate - used, `value after ${step.what}`);
  }
}

const sizes: [string, number, number, number, number][] = [
  ['few permits', 4, 6, 20, 60],
  ['many permits, one an entry', 250, 1, 2_000, 12],
  ['many permits, several an entry', 120, 9, 3_000, 12],
];

for (const [title, requests, permits, most, runs] of sizes)
  test(`grants, waits, \`value\` and available permits agree with the log: ${title}`, async ({ redis }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps(requests, permits, most), { maxLength: 25 }), (history) =>
        replay(redis, history, most),
      ),
      tried(runs),
    );
  });

test('the same before Redis 7, where the expiry of a key cannot be read', async ({ redis }) => {
  const older = (lua: string) => lua.replaceAll('PEXPIRETIME', 'NO_SUCH_COMMAND');
  await fc.assert(
    fc.asyncProperty(fc.array(steps(4, 6, 20), { maxLength: 25 }), (history) =>
      replay(redis, history, 20, older),
    ),
    tried(20),
  );
});

test('`value` agrees with a partly expired log that one call cannot count', async ({ redis }) => {
  const ledger = timedLedger(redis);
  const [rate, interval] = [1_000, 1_000];
  await ledger.setTime(start);
  await ledger.setRate('new', rate, interval, false);
  await ledger.acquire([{ count: 60, cost: [3], maxWait: 0 }]);
  await ledger.setTime(start + 500_000);
  await ledger.acquire([{ count: 60, cost: [5], maxWait: 0 }]);
  await ledger.setTime(start + 1_000_000);
  const [one] = (await ledger.acquire([{ count: 1, cost: [rate - 300], maxWait: 0 }])).fates;
  assert.is(one.granted, 1);
  const { value, used } = await stateOf(redis);
  assert.equal([value, used], [0, rate]);
});

test('a refund of more than was granted returns no more than the grant', async ({ redis }) => {
  const ledger = timedLedger(redis);
  await ledger.setTime(start);
  await ledger.setRate('new', 20, 1_000, false);
  const { reply } = await ledger.acquire([{ count: 2, cost: [3], maxWait: 0 }]);
  await ledger.acquire([{ count: 1, cost: [7], maxWait: 0 }]);
  await ledger.refund(start / 1_000, reply.epoch, 9);
  const { value, used } = await stateOf(redis);
  assert.equal([value, used], [13, 7]);
});

test('`value` agrees with a log of which more has expired than one call reads', async ({ redis }) => {
  const ledger = timedLedger(redis);
  const [rate, interval, each] = [9_000, 1_000, 1_000];
  const runs = [{ count: each, cost: [2], maxWait: 0 }];
  await ledger.setTime(start);
  await ledger.setRate('new', rate, interval, false);
  for (const [us, calls] of [
    [start, 3],
    [start + 500_000, 1.5],
  ]) {
    await ledger.setTime(us);
    for (let left = calls * each; left > 0; left -= each)
      await ledger.acquire([{ ...runs[0], count: Math.min(left, each) }]);
  }
  const agree = async () => {
    const { value, used } = await stateOf(redis);
    assert.is(value, (await rateNow()) - used);
  };
  const rateNow = async () => Number(await redis.hget('api', 'rate'));
  await agree();
  assert.is((await ledger.acquire(runs)).fates[0].refused, each);
  // 6,000 expire, 3,000 do not.
  await ledger.setTime(start + 1_000_000);
  assert.equal((await ledger.acquire([{ count: 1, cost: [1], maxWait: 0 }])).fates[0].granted, 1);
  await agree();
  const [{ granted, refused }] = (await ledger.acquire([{ count: 7, cost: [1_000], maxWait: 0 }])).fates;
  assert.equal([granted, refused], [5, 2]);
  await agree();
  assert.is(await ledger.available(), 999);
  await ledger.setRate('known', rate + 100, interval, true);
  await agree();
  assert.is(await ledger.available(), 1_099);
  await ledger.setTime(start + 1_500_000);
  assert.is(await ledger.available(), rate + 100 - 5_001);
  await agree();
});

test('single requests, to the microsecond at which the oldest entry expires', async ({ redis }) => {
  const ledger = timedLedger(redis);
  const ask = async (us: number, permits: number) => {
    await ledger.setTime(start + us);
    const { reply, fates } = await ledger.acquire([{ count: 1, cost: [permits], maxWait: Infinity }]);
    assert.is(fates[0].granted + fates[0].left, 1);
    return fates[0].granted === 1 ? 'granted' : reply.retryAfter;
  };
  await ledger.setTime(start);
  await ledger.setRate('new', 10, 1_000, false);
  assert.is(await ask(0, 4), 'granted');
  assert.is(await ask(500_000, 6), 'granted');
  assert.is(await ask(999_998, 1), 0.002);
  assert.is(await ask(999_999, 5), 500.001);
  assert.is(await ask(1_000_000, 3), 'granted');
  assert.is(await ask(1_000_001, 2), 499.999);
  assert.is(await ask(1_000_002, 1), 'granted');
  const { value, used } = await stateOf(redis);
  assert.equal([value, used], [0, 10]);
});

test('removes expired entries from the log, even where they are not needed', async ({ redis }) => {
  const ledger = timedLedger(redis);
  const [interval, tick] = [10, 1_001];
  await ledger.setTime(start);
  await ledger.setRate('new', 1_000, interval, false);
  const sizes: number[] = [];
  for (let i = 0; i < 200; i++) {
    await ledger.setTime(start + i * tick);
    await ledger.acquire([{ count: 1, cost: [1], maxWait: Infinity }]);
    sizes.push((await stateOf(redis)).log.length);
  }
  // The live ones, and those expired since the last removal: one call in sixteen removes.
  assert.ok(Math.max(...sizes) <= interval + 16 + 1, `${Math.max(...sizes)}`);
});

test('a grant between two waiting requests counts for the second, at any place in the log', async ({
  redis,
}) => {
  const ledger = timedLedger(redis);
  await ledger.setTime(start);
  await ledger.setRate('new', 41, 1_000, false);
  // Of the same millisecond, and after ours by their bytes.
  for (let i = 0; i < 9; i++) {
    const member = Buffer.concat([Buffer.from([16]), Buffer.alloc(15, 255), Buffer.from([i, 1, 0, 0, 0])]);
    await redis.zadd(redissonKeys('api').permits, start / 1_000, member);
  }
  const runs = [
    { count: 1, cost: [41], maxWait: 0 },
    { count: 2, cost: [27], maxWait: 0 },
  ];
  const [first, second] = (await ledger.acquire(runs)).fates;
  assert.equal([first.refused, second.granted, second.refused], [1, 1, 1]);
  assert.is((await stateOf(redis)).used, 9 + 27);
});

test('never grants more permits than an entry can hold, free or not', async ({ redis }) => {
  const ledger = timedLedger(redis);
  await ledger.setTime(start);
  await ledger.setRate('new', 1e10, 1_000, false);
  for (const [permits, granted] of [
    [1, 1],
    [2 ** 32, 0],
    [2 ** 32 - 1, 1],
  ])
    assert.is((await ledger.acquire([{ count: 1, cost: [permits], maxWait: 0 }])).fates[0].granted, granted);
});

test.run();
