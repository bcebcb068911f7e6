import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateLimiter, RateType, RedissonRateLimiter, StoreError, slidingWindow } from '../../src/index.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import { overSliding } from '../properties/oracle.ts';
import { limitOf } from '../properties/specs.ts';
import { ledgerOf } from '../redis/ledgers.ts';
import { MixedCalls, sliding } from '../redis/mixedCalls.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { commandsOf } from '../redisson/commands.ts';
import { plainTexts } from '../redisson/plainTexts.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { runsOf } from '../support/campaign.ts';
import { commandsIn, rulesOf } from './guide.ts';
import { allCalls, allRedissonCalls } from './surface.ts';

const test = redisSuite('permissions');

/** The words of the scripts that can be commands: in capitals, and in quotes. */
const words = new Set<string>();
const reader: Record<string, unknown> = {
  defineCommand(name: string, { lua }: { lua: string }) {
    for (const [, word] of lua.matchAll(/'([A-Z]{3,})'/g)) words.add(word);
    reader[name] = () => Promise.resolve();
  },
};
for (const script of Object.values(scriptsOf(reader as unknown as Redis))) script(['key'], []);

const native = rulesOf('sluice').map((rule) => (rule === '~{sluice:*' ? '~{p:*' : rule));
const refused = /ACL LOG names the missing permission; docs\/security\.md lists/;

/** Of the clients, ioredis and node-redis work without INFO. */
const withCommand = (command: string) =>
  command === 'INFO' ? aboutIoredis(test, 'a client may need INFO') : test;

for (const command of commandsIn(native))
  withCommand(command)(
    `without the permission for ${command}, calls fail or succeed, and never exceed the limit`,
    async ({ redis, server, connect }) => {
      const rules = native.filter((rule) => rule !== `+${command.toLowerCase()}`);
      await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', ...rules);
      const limited = connect({ username: 'limited', password: 'secret' });
      const refusals: Error[] = [];
      const seeds = runsOf(20);
      for (let seed = 1; seed <= seeds; seed++) {
        await redis.flushall();
        await redis.script('FLUSH');
        const calls = new MixedCalls(seed, { single: seed % 2 === 0 });
        // The order matters for EVAL: after the first call of a script, calls send only its hash.
        const [all, some] = [calls.clients(redis, 'all'), calls.clients(limited, 'some')];
        await calls.make(60, seed % 4 < 2 ? all : [...some, ...all]);
        for (const turn of [40, 5, 40, 1, 20, 3, 20]) {
          await calls.make(turn, [...some, ...all]);
          assert.not(overSliding(sliding, calls.grants), `seed ${seed}`);
        }
        refusals.push(...calls.refusals);
      }
      // The test passes the time in, except here.
      const peek = ledgerOf(limited, { '': limitOf(sliding) }, { name: 'other' }).peek();
      await peek.catch((error) => refusals.push(error));
      // Only ioredis calls it, and works without it.
      if (command === 'INFO') return assert.equal(refusals, []);
      assert.ok(refusals.length > 0, 'no call was refused');
      for (const error of refusals) {
        assert.instance(error, StoreError);
        assert.match(error.message, refused);
      }
    },
  );

test('with only the permissions of the guide, every call succeeds', async ({ server, connect }) => {
  await server.command('ACL', 'SETUSER', 'guided', 'reset', 'on', '>secret', ...rulesOf('sluice'));
  await allCalls(connect({ username: 'guided', password: 'secret' }));
  await server.command('ACL', 'SETUSER', 'mixed', 'reset', 'on', '>secret', ...native);
  const mixed = connect({ username: 'mixed', password: 'secret' });
  const seeds = runsOf(20);
  for (let seed = 1; seed <= seeds; seed++) {
    await server.command('FLUSHALL');
    const calls = new MixedCalls(seed);
    await calls.make(150, calls.clients(mixed, 'mixed'));
    assert.equal(calls.refusals, []);
  }
  await ledgerOf(mixed, { '': limitOf(sliding) }, { name: 'other' }).peek();
});

test('the guide names the commands of the scripts, and no others', async ({ redis }) => {
  const known = async (names: readonly string[]) => {
    const replies = (await redis.call('COMMAND', 'INFO', ...names)) as unknown[];
    return names.filter((_, i) => replies[i]).sort();
  };
  assert.equal(commandsIn(native).sort(), await known([...words, 'EVAL', 'EVALSHA', 'INFO']));
  const direct = ['EVAL', 'EVALSHA', 'INFO', 'EXISTS', 'HMGET', 'PTTL', 'UNLINK'];
  const scripts = commandsOf(Object.values(plainTexts));
  assert.equal(commandsIn(rulesOf('redisson')).sort(), await known([...new Set([...scripts, ...direct])]));
});

test('with only the permissions of the guide for Redisson, every call succeeds', async ({
  server,
  connect,
}) => {
  await server.command('ACL', 'SETUSER', 'guided', 'reset', 'on', '>secret', ...rulesOf('redisson'));
  await allRedissonCalls(connect({ username: 'guided', password: 'secret' }), 'api');
});

for (const command of commandsIn(rulesOf('redisson')))
  withCommand(command)(
    `without the permission for ${command}, calls on the keys of Redisson are refused or done, and never exceed the rate`,
    async ({ server, connect }) => {
      const rules = rulesOf('redisson').filter((rule) => rule !== `+${command.toLowerCase()}`);
      await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', ...rules);
      const [limited, all] = [connect({ username: 'limited', password: 'secret' }), connect()].map(
        (redis) => new RedissonRateLimiter(redis, 'api'),
      );
      await all.trySetRate(RateType.OVERALL, 10, 600_000);
      const refusals: Error[] = [];
      const done = <T>(call: Promise<T>) => call.catch((error) => void refusals.push(error));
      let granted = 0;
      for (let i = 0; i < 16; i++) if (await done((i % 2 ? all : limited).tryAcquire())) granted++;
      assert.ok(granted <= 10, `${granted} permits`);
      await done(limited.availablePermits());
      await done(limited.getConfig());
      await done(limited.remainTimeToLive());
      await done(limited.isExists());
      for (const error of refusals) {
        assert.instance(error, StoreError);
        assert.match(error.message, refused);
      }
      await Promise.all([limited.close(), all.close()]);
    },
  );

test('without access to its keys, a limiter is refused', async ({ server, connect }) => {
  for (const [user, key] of [
    ['sluice', '~{sluice:other}*'],
    ['redisson', '~other'],
  ] as const) {
    const rules = [key, ...rulesOf(user).filter((rule) => !rule.startsWith('~'))];
    await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', ...rules);
    const redis = connect({ username: 'limited', password: 'secret' });
    const limiter =
      user === 'redisson'
        ? new RedissonRateLimiter(redis, 'api')
        : new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 5, interval: 1_000 }), redis });
    const error = await limiter.tryAcquire().catch((reason: Error) => reason);
    assert.instance(error, StoreError);
    assert.match((error as Error).message, refused);
    await limiter.close();
  }
});

test('the scripts use commands', () => {
  for (const word of ['GETRANGE', 'SET', 'TIME', 'ZADD', 'RPUSH', 'UNLINK']) assert.ok(words.has(word), word);
});

test.run();
