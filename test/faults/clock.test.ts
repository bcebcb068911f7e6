import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/index.ts';
import { overBucket, overSliding, type PermitsAt } from '../properties/oracle.ts';
import { limitOf } from '../properties/specs.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { until } from '../support/until.ts';
import { Load } from './load.ts';
import type { Ending } from './requests.ts';

const test = redisSuite("steps of Redis's clock");

/**
 * Makes the scripts of a connection read a clock with an error of so many seconds, read from a key: no other test
 * replaces TIME.
 */
function withClock(redis: Redis, key: string): Redis {
  const { defineCommand } = redis;
  const wrongTime = `local function wrongTime()
    local time = redis.call('TIME')
    return { time[1] + (redis.call('GET', '${key}') or 0), time[2] }
  end
  `;
  redis.defineCommand = (name, definition) => {
    const lua = definition.lua.replaceAll("redis.call('TIME')", 'wrongTime()');
    defineCommand.call(redis, name, { ...definition, lua: wrongTime + lua });
  };
  return redis;
}

const limits = [
  { kind: 'slidingWindow', permits: 40, interval: 400, resolution: 1, over: overSliding },
  { kind: 'tokenBucket', permits: 40, interval: 400, burst: 20, over: overBucket },
] as const;

const hour = 3_600;
/** The errors of the clock in sequence: far enough apart that each moment identifies its error. */
const courses: [title: string, errors: readonly number[]][] = [
  ['back', [-10, -60, -60 - hour, -60 - 30 * hour]],
  ['forward', [10, 60, 60 + hour, 60 + 30 * hour]],
  ['to and fro', [20, -20, hour, 40, -hour, 80]],
];

for (const { over, ...spec } of limits)
  test(`a ${spec.kind} under clock steps of seconds and hours: exceeds one limit after a step forward only, and no request waits for the clock`, async ({
    redis,
    connect,
  }) => {
    await Promise.all(courses.map((course) => follow(course)));

    async function follow([title, errors]: (typeof courses)[number]): Promise<void> {
      const key = `clock ${title}`;
      const loads = [1, 2].map(() => {
        const limiter = new RateLimiter({
          name: title,
          limit: limitOf(spec),
          redis: withClock(connect(), key),
        });
        return new Load(limiter);
      });
      const count = () => loads.reduce((sum, { requests }) => sum + requests.permits.length, 0);
      for (const seconds of [...errors, undefined]) {
        const before = count();
        await until(`grants go on (${title})`, async () => count() > before + 60, { within: 6_000 });
        if (seconds !== undefined) await redis.set(key, seconds);
      }
      await Promise.all(loads.map((load) => load.stop()));

      const lives = [0, ...errors].map((seconds) => ({ seconds, grants: [] as PermitsAt[] }));
      for (const ending of loads.flatMap(({ requests }) => requests.endings)) {
        const { life, t } = trueMoment(ending, lives);
        assert.ok(ending.receivedAt >= t - 1, `${t - ending.receivedAt} ms early`);
        life.grants.push({ t, n: 1 });
      }
      for (const { seconds, grants } of lives)
        assert.ok(grants.length > 40, `grants at an error of ${seconds} s`);
      // A step forward lets earlier grants expire at once: the grants at each error are judged separately.
      const onlyBack = errors.every((seconds, i) => seconds < (errors[i - 1] ?? 0));
      const judged = onlyBack ? [lives.flatMap(({ grants }) => grants)] : lives.map(({ grants }) => grants);
      for (const grants of judged) assert.is(over(spec as never, grants), undefined, title);
    }
  });

/** The moment of a grant by a correct clock: uses the error that brings it nearest to the caller's receipt. */
function trueMoment<L extends { seconds: number }>(
  { receivedAt, permit, error }: Ending,
  lives: readonly L[],
) {
  if (!permit) throw error;
  const moments = lives.map((life) => ({ life, t: permit.grantedAt - life.seconds * 1000 }));
  return moments.reduce((best, one) =>
    Math.abs(receivedAt - one.t) < Math.abs(receivedAt - best.t) ? one : best,
  );
}

test.run();
