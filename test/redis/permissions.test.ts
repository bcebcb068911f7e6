import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/index.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import { overSliding } from '../properties/oracle.ts';
import { limitOf } from '../properties/specs.ts';
import { ledgerOf } from './ledgers.ts';
import { MixedCalls, sliding } from './mixedCalls.ts';
import { redisSuite } from './redisSuite.ts';

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

const refused = /NOPERM|ACL|permission|can't (run|access)/;

for (const word of words)
  test(`without the permission for ${word}, calls fail or succeed, and never exceed the limit`, async ({
    redis,
    server,
    connect,
  }) => {
    const [known] = (await redis.call('COMMAND', 'INFO', word)) as unknown[];
    // Not commands: options of commands, and words of messages.
    if (!known) return;
    await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '+@all', `-${word}`, '~*');
    const limited = connect({ username: 'limited', password: 'secret' });
    const refusals: Error[] = [];
    for (let seed = 1; seed <= 6; seed++) {
      await redis.flushall();
      const calls = new MixedCalls(seed, { single: seed > 3 });
      const [all, some] = [calls.clients(redis, 'all'), calls.clients(limited, 'some')];
      await calls.make(60, all);
      assert.equal(calls.refusals, []);
      for (const turn of [40, 5, 40, 1, 20, 3, 20]) {
        await calls.make(turn, [...some, ...all]);
        assert.not(overSliding(sliding, calls.grants), `seed ${seed}`);
      }
      refusals.push(...calls.refusals);
    }
    // The test passes the time in, except here.
    const peek = ledgerOf(limited, { '': limitOf(sliding) }, { name: 'other' }).peek();
    await peek.catch((error) => refusals.push(error));
    assert.ok(refusals.length > 0, 'no call was refused');
    for (const error of refusals) {
      assert.instance(error, StoreError);
      assert.match(error.message, refused);
    }
  });

test('with only the permissions of the guide, every call succeeds', async ({ redis, server, connect }) => {
  const guide = readFileSync(new URL('../../docs/guarantees.md', import.meta.url), 'utf8');
  const line = /ACL SETUSER sluice on >secret ([^`]+)```/.exec(guide)![1];
  const rules = line.trim().replace('~{sluice:', '~{p:').split(/\s+/);
  await server.command('ACL', 'SETUSER', 'guided', 'reset', 'on', '>secret', ...rules);
  const guided = connect({ username: 'guided', password: 'secret' });
  for (let seed = 1; seed <= 6; seed++) {
    await redis.flushall();
    const calls = new MixedCalls(seed);
    await calls.make(150, calls.clients(guided, 'guided'));
    assert.equal(calls.refusals, []);
  }
  await ledgerOf(guided, { '': limitOf(sliding) }, { name: 'other' }).peek();
  const used = [...words, 'EVAL', 'EVALSHA', 'INFO'];
  const known = (await redis.call('COMMAND', 'INFO', ...used)) as unknown[];
  assert.equal(
    rules.filter((rule) => rule.startsWith('+')).sort(),
    used
      .filter((_, i) => known[i])
      .map((word) => `+${word.toLowerCase()}`)
      .sort(),
  );
});

test('the scripts use commands', () => {
  for (const word of ['GET', 'SET', 'TIME', 'ZADD', 'RPUSH', 'UNLINK']) assert.ok(words.has(word), word);
});

test.run();
