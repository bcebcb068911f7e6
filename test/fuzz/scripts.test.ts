import fc from 'fast-check';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/index.ts';
import { type Scripts, scriptsOf } from '../../src/stores/redis/scripts.ts';
import { specOf } from '../../src/stores/redis/spec.ts';
import { type OnRedis, redisSuite } from '../redis/redisSuite.ts';
import { runsOf } from '../support/campaign.ts';
import { seed } from '../support/seed.mjs';
import { fillLog } from './longLog.ts';

const test = redisSuite('scripts under random arguments');

/** The most milliseconds of the server that a call may take, and the most entries of a log at the default resolution. */
const bound = 5;
const entries = 1_000;
/** The milliseconds that a million additions take on the server that the bound is for: on a slower one, it is longer. */
const additions = 8;
/** A slow call may have waited for the machine: the quickest of so many tries counts. */
const tries = 6;

const names = ['reserve', 'decide', 'refund', 'configure', 'pause', 'forget'] as const;
const keys = ['{long:log}', '{long:log}:contenders', '{long:log}:control', '{long:log}:log:'];

interface Call {
  script: (typeof names)[number];
  args: string[];
}

const number = fc.oneof(
  fc.integer({ min: 0, max: 20 }).map(String),
  fc.integer({ min: 0, max: 2_000_000 }).map(String),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }).map(String),
  fc.double().map(String),
  fc.constantFrom(
    '-1',
    '-2',
    '1e12',
    '1000000000000',
    '1e308',
    'nan',
    'inf',
    '-inf',
    '',
    'x',
    '0x10',
    '1 ',
    '9'.repeat(400),
  ),
);
const part = fc.oneof(number, fc.string({ maxLength: 5 }));
const right = specOf([''], [slidingWindow({ permits: 2 * entries, interval: 1e8, resolution: 1 })]);
const spec = fc.oneof(
  { weight: 4, arbitrary: fc.constant(right) },
  fc
    .array(fc.tuple(fc.constantFrom('', 'a'), fc.constantFrom('s', 'f', 't'), number, number, number), {
      minLength: 1,
      maxLength: 3,
    })
    .map(
      (limits) => `[${limits.map(([name, kind, ...rest]) => `["${name}","${kind}",${rest.join()}]`).join()}]`,
    ),
  fc.string(),
  fc.json(),
);

const client = fc.constantFrom('0me', '1me');
const limit = [fc.constant(String(2 * entries)), fc.constant('100000000'), fc.constant('1')];

/** The arguments of each script: numbers at their places, or anything. */
const callOf: Record<Call['script'], fc.Arbitrary<string[]>> = {
  reserve: list(spec, client, ...limit, number, number, fc.constantFrom('0', '3')),
  decide: list(spec, client, ...limit),
  refund: list(spec, client, ...limit),
  configure: list(spec, fc.constantFrom('0', '1'), fc.constantFrom('0', '1')),
  pause: list(),
  forget: list(),
};

/** The arguments with some numbers added, and now and then another value instead. */
function list(...first: fc.Arbitrary<string>[]): fc.Arbitrary<string[]> {
  const usual = fc.tuple(fc.tuple(...first), fc.array(number, { maxLength: 12 })).map((all) => all.flat());
  return fc.oneof({ weight: 5, arbitrary: usual }, fc.array(part, { maxLength: 20 }));
}

const call: fc.Arbitrary<Call> = fc
  .constantFrom(...names)
  .chain((script) => callOf[script].map((args) => ({ script, args })));

/** Contents of a key that no script has written, or a changed part of valid ones. */
type Damage = (redis: Redis) => Promise<unknown>;
const damage: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Damage>(async () => {}) },
  fc.constantFrom(...keys).map(
    (key): Damage =>
      (redis) =>
        redis.del(key),
  ),
  fc.tuple(fc.constantFrom(...keys), fc.string()).map(
    ([key, text]): Damage =>
      (redis) =>
        redis.set(key, text),
  ),
  fc.array(fc.tuple(fc.nat({ max: 110 }), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }).map(
    (bytes): Damage =>
      async (redis) => {
        for (const [at, byte] of bytes) await redis.setrange(keys[0], at, Buffer.from([byte]));
      },
  ),
);

/** Makes the calls on the unchanged state, and returns the slow ones. */
async function slowOf(
  context: OnRedis,
  scripts: Scripts,
  harm: Damage,
  calls: readonly Call[],
): Promise<Set<number>> {
  const { redis } = context;
  for (const key of keys) {
    await redis.del(key);
    await redis.copy(`kept ${key}`, key);
  }
  await harm(redis);
  await redis.call('SLOWLOG', 'RESET');
  const slow = new Set<number>();
  for (const [i, { script, args }] of calls.entries()) {
    const before = slow.size;
    await scripts[script](keys, args).catch(() => {});
    const logged = (await redis.call('SLOWLOG', 'LEN')) as number;
    if (logged > before) slow.add(i);
    if (logged !== slow.size) await redis.call('SLOWLOG', 'RESET');
  }
  return slow;
}

/** The milliseconds that a million additions take on the server: the median of five. */
async function additionsOn(redis: Redis): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    await redis.config('RESETSTAT');
    await redis.eval('local sum = 0 for i = 1, 1000000 do sum = sum + i end return sum', 0);
    const [, us] = /cmdstat_eval:calls=1,usec=(\d+)/.exec(await redis.info('commandstats')) ?? [];
    times.push(Number(us) / 1000);
  }
  return times.sort((a, b) => a - b)[2];
}

test(`no call takes more than ${bound} ms of the server, for any arguments and contents of the keys`, async (context) => {
  const { redis } = context;
  const longest = bound * Math.max(1, (await additionsOn(redis)) / additions);
  await redis.config('SET', 'slowlog-log-slower-than', String(Math.ceil(longest * 1000)));
  await fillLog(redis, entries, 2 * entries);
  for (const key of keys) if (await redis.exists(key)) await redis.rename(key, `kept ${key}`);
  const scripts = scriptsOf(redis);
  await fc.assert(
    fc.asyncProperty(damage, fc.array(call, { minLength: 5, maxLength: 20 }), async (harm, calls) => {
      let slow = await slowOf(context, scripts, harm, calls);
      for (let i = 1; i < tries && slow.size > 0; i++) {
        const again = await slowOf(context, scripts, harm, calls);
        slow = new Set([...slow].filter((index) => again.has(index)));
      }
      assert.equal(
        [...slow].map((i) => calls[i]),
        [],
      );
    }),
    { seed: seed(), numRuns: runsOf(600), includeErrorInReport: true },
  );
});

test.run();
