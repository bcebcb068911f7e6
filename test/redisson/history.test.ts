// After any history of JVM clients, our grants follow the log.
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import type { JvmClient } from '../support/jvmClient.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { api, type OnRedisson, redissonSuite } from './redissonSuite.ts';
import { tried } from './runs.ts';
import { serverNow, stateOf } from './state.ts';

const test = redissonSuite('history');

const interval = 100_000;
/** The clock errors of JVM clients: small enough that nothing expires while the test runs. */
const offsets = [-250_000, -90_000, -60_000, -30_000, 0, 50_000].map((offset) => offset - 5_000);

/** An expiry beyond this is a seal. */
const seal = 4e15;

const keepAlives = fc.constantFrom(0, 0, interval, 10 * interval);
const step = fc.record({
  who: fc.constantFrom('jvm', 'jvm', 'ours', 'ours', 'ours'),
  what: fc.constantFrom('take', 'take', 'take', 'release', 'look', 'rate'),
  permits: fc.integer({ min: 1, max: 6 }),
  rate: fc.integer({ min: 6, max: 12 }),
  keepAlive: keepAlives,
  offset: fc.constantFrom(...offsets),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Found once: a JVM client restores `value` to our last one, at another rate. */
const examples: [Step[], number][] = [
  [
    [
      { who: 'ours', what: 'take', permits: 2, rate: 10, keepAlive: 0, offset: 0 },
      { who: 'jvm', what: 'rate', permits: 1, rate: 8, keepAlive: 0, offset: offsets[0] },
      { who: 'jvm', what: 'release', permits: 2, rate: 8, keepAlive: 0, offset: offsets[0] },
      { who: 'ours', what: 'take', permits: 1, rate: 8, keepAlive: 0, offset: 0 },
    ],
    0,
  ],
];

/** The permits that count now, by the log alone. */
async function taken(redis: Redis): Promise<number> {
  const now = await serverNow(redis);
  const { log } = await stateOf(redis);
  return log.reduce((sum, { at, permits }) => (at > now - interval ? sum + permits : sum), 0);
}

async function rateOf(redis: Redis): Promise<number> {
  return Number(await redis.hget('api', 'rate'));
}

async function jvmStep(client: JvmClient, { what, permits, rate, keepAlive }: Step): Promise<void> {
  // One of its faults: it fails on an empty log.
  const asked: Promise<unknown> =
    what === 'take'
      ? client.tryAcquire(permits)
      : what === 'release'
        ? client.release(permits)
        : what === 'look'
          ? client.availablePermits()
          : client.updateRate(RateType.OVERALL, rate, interval, { keepState: true, keepAlive });
  await asked.catch((error) => assert.match(error.message, /nil/));
}

/** The state does not end before the config, and never if the config never ends. */
async function checkEnds(redis: Redis): Promise<void> {
  const { config, ...state } = redissonKeys(api);
  const ends = await redis.pexpiretime(config);
  for (const key of [state.value, state.permits]) {
    const end = await redis.pexpiretime(key);
    // A known one ends a millisecond before the config.
    const lasts = ends === -1 ? end === -1 || end > seal : end >= ends - (key === state.value ? 1 : 0);
    assert.ok(end === -2 || lasts, `${key} ends at ${end}, the config at ${ends}`);
  }
}

type Ours = ReturnType<OnRedisson['ours']>;

async function ourStep(
  ours: Ours,
  redis: Redis,
  { what, permits, rate: newRate, keepAlive }: Step,
): Promise<void> {
  const before = await taken(redis);
  const rate = await rateOf(redis);
  let after = before;
  if (what === 'take') {
    const fits = before + permits <= rate;
    assert.is(await ours.tryAcquire(permits), fits, `${permits} permits with ${before} of ${rate} taken`);
    if (fits) after += permits;
  } else if (what === 'release') {
    await ours.release(permits);
    after = Math.max(0, before - permits);
  } else if (what === 'rate') {
    assert.ok(await ours.updateRate(RateType.OVERALL, newRate, interval, { keepState: true, keepAlive }));
  }
  if (what !== 'look') await checkEnds(redis);
  const left = Math.max(0, (await rateOf(redis)) - after);
  assert.is(await taken(redis), after, what);
  assert.is(await ours.availablePermits(), left, what);
  await checkEnds(redis);
  const { value } = await stateOf(redis);
  assert.is(Math.max(0, value ?? left), left, `value after ${what}`);
}

test('after any history, grants what the log leaves, and `value` agrees', async ({ jvm, ours, redis }) => {
  const limiter = ours();
  const clients = new Map(offsets.map((clockOffset) => [clockOffset, jvm({ clockOffset })]));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), keepAlives, async (steps, keepAlive) => {
      await redis.flushall();
      await limiter.setRate(RateType.OVERALL, 10, interval, { keepAlive });
      for (const one of steps)
        if (one.who === 'jvm') await jvmStep(clients.get(one.offset)!, one);
        else await ourStep(limiter, redis, one);
    }),
    { ...tried(80), examples },
  );
});

test.run();
