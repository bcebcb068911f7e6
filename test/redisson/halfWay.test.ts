// A user of Redis may lack a command that a script needs, so that the script fails half-way: after that, grants never
// exceed the rate, and no stored value has more free permits than the log.
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { type RedissonRateLimiter, StoreError } from '../../src/index.ts';
import { commandsOf } from './commands.ts';
import { plainTexts } from './plainTexts.ts';
import { redissonSuite, takeOneByOne } from './redissonSuite.ts';
import { some } from './runs.ts';
import { clientId, type Stage, stages } from './stages.ts';
import { stateOf } from './state.ts';

const test = redissonSuite('half-way');

const commands = commandsOf(Object.values(plainTexts));

/** The calls of a client without permission for one command. */
interface Operation {
  readonly title: string;
  /** Permits that it refunds, if any. */
  readonly back?: number;
  /** The increase of the rate, if any. */
  readonly more?: number;
  /** Returns the number of permits granted. */
  run(limiter: RedissonRateLimiter, stage: Stage): Promise<number>;
}

async function takeAtOnce(limiter: RedissonRateLimiter, requests: readonly number[]): Promise<number> {
  const granted = requests.map(async (permits) => ((await limiter.tryAcquire(permits)) ? permits : 0));
  return (await Promise.all(granted)).reduce((sum, permits) => sum + permits);
}

const change = (title: string, more: number, keepAlive = 0): Operation => ({
  title,
  more,
  run: (limiter, { type, rate }) =>
    limiter.setRate(type, rate + more, 60_000, { keepState: true, keepAlive }).then(() => 0),
});

const operations: readonly Operation[] = [
  { title: 'one permit', run: (limiter) => takeAtOnce(limiter, [1]) },
  { title: 'several requests', run: (limiter) => takeAtOnce(limiter, [1, 2, 1]) },
  { title: 'a look', run: (limiter) => limiter.availablePermits().then(() => 0) },
  { title: 'a release of a part', back: 1, run: (limiter) => limiter.release(1).then(() => 0) },
  {
    title: 'a refund of a part',
    back: 1,
    run: (_, { granted: [, second] }) => second.refund(1).then(() => 0),
  },
  { title: 'a release', back: 4, run: (limiter) => limiter.release(4).then(() => 0) },
  {
    title: 'refunds',
    back: 4,
    run: (_, { granted: [first, second] }) => Promise.all([first.refund(), second.refund(1)]).then(() => 0),
  },
  change('a higher rate', 3),
  change('a lower rate', -2),
  change('a keep-alive', 0, 600_000),
];
/** Without one of these, more may fail than one call. */
const writes = ['ZADD', 'ZREM', 'INCRBY', 'SET'];
/** The calls with a log that takes long to fill. */
const few = ['one permit', 'a release'];

/** The number of grants; a refusal comes from Redis. */
async function attempt(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    assert.instance(error, StoreError);
    assert.match(String((error as StoreError).cause), /NOPERM|can't run|permission/);
    return 0;
  }
}

/** The number of permits by which `value` exceeds the free permits of the log. */
async function excess(redis: Redis, { type, rate }: Stage): Promise<number> {
  const { value, used } = await stateOf(redis, type === 0 ? undefined : clientId);
  return value === undefined ? 0 : value + used - rate;
}

interface Scene {
  readonly place: string;
  readonly operation: Operation;
}

const scenes: readonly Scene[] = Object.keys(stages).flatMap((place) =>
  operations
    .filter(({ title }) => !place.includes('long log') || few.includes(title))
    .map((operation) => ({ place, operation })),
);

/** The commands that are called in each scene. */
const calledIn = new Map<Scene, Set<string>>();

test('some scene calls every command of the scripts', async ({ ours, redis }) => {
  const limiter = ours({ clientId });
  for (const scene of scenes) {
    await redis.flushall();
    const stage = await stages[scene.place](limiter, redis);
    await redis.config('RESETSTAT');
    await scene.operation.run(limiter, stage);
    const stats = await redis.info('commandstats');
    calledIn.set(
      scene,
      new Set([...stats.matchAll(/^cmdstat_(\w+):/gm)].map(([, name]) => name.toUpperCase())),
    );
  }
  const never = commands.filter((command) => ![...calledIn.values()].some((names) => names.has(command)));
  // Only Redis before 7 receives this command.
  assert.equal(never, ['PTTL']);
});

for (const command of commands)
  test(`a user without permission for ${command} gets an error or a grant, and the limit holds`, async ({
    ours,
    redis,
    connect,
    limiterOn,
  }) => {
    await redis.call('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '~*', '+@all');
    const limited = limiterOn(connect({ username: 'limited', password: 'secret' }), { clientId });
    const other = ours({ clientId });
    const concerned = scenes.filter((scene) => calledIn.get(scene)!.has(command));
    for (const { place, operation } of some(concerned, writes.includes(command) ? 99 : 7)) {
      const { title, back = 0, more = 0, run } = operation;
      const hint = `${title}, ${place}`;
      await redis.flushall();
      const stage = await stages[place](limited, redis);
      const before = await excess(redis, stage);
      await redis.call('ACL', 'SETUSER', 'limited', `-${command}`);
      let granted = await attempt(() => run(limited, stage));
      const most = { ...stage, rate: stage.rate + Math.max(0, more) };
      const said = await excess(redis, most);
      assert.ok(said <= Math.max(0, before), `${hint}: \`value\` says ${said} too many`);
      granted += await attempt(() => takeOneByOne(limited, 2));
      await redis.call('ACL', 'SETUSER', 'limited', `+${command}`);
      // A long log is counted by then.
      await other.availablePermits();
      const free = await other.availablePermits();
      if (free > 0) granted += await takeAtOnce(other, [free]);
      const counts = stage.live - back + granted;
      assert.ok(counts <= most.rate, `${hint}: ${counts} of ${most.rate}`);
    }
  });

test.run();
