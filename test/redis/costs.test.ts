// The commands that one call runs on the server, as stated in docs/costs.md.
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/index.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { ControlledLedger } from '../../src/stores/store.ts';
import { openRedisLedger } from '../support/redisLedger.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('costs');

const interval = 60_000;
/** Each kind of limit, by its name on the page. */
const kinds: [string, Limit][] = [
  ['sliding window', slidingWindow({ permits: 1_000, interval })],
  ['fixed window', fixedWindow({ permits: 1_000, interval })],
  ['token bucket', tokenBucket({ permits: 1_000, interval })],
];

/** The commands that Redis has run for a call, without the script itself, in alphabetical order. */
async function commandsOf(redis: Redis, call: () => Promise<unknown>): Promise<string> {
  await redis.config('RESETSTAT');
  await call();
  const stats = await redis.info('commandstats');
  const counts = Array.from(stats.matchAll(/cmdstat_(\w+):calls=(\d+)/g), ([, name, calls]) => [name, calls]);
  return counts
    .filter(([name]) => !/^(config|info|evalsha|eval|script)/.test(name))
    .map(([name, calls]) => (calls === '1' ? name.toUpperCase() : `${calls} ${name.toUpperCase()}`))
    .sort()
    .join(', ');
}

/** Calls of one ledger at given times. */
function callsOf(redis: Redis, limit: Limit) {
  const clock = { ms: 1_700_000_000_000 };
  const config = { name: 'n', prefix: 'p', clientId: 'me', names: [''], limits: [limit] };
  const ledger: ControlledLedger = openRedisLedger(config, scriptsOf(redis), () => clock.ms * 1000);
  let epoch = 0;
  const runs = [{ count: 1, cost: [1], maxWait: Infinity }];
  const take = () =>
    new Promise<void>((resolve, reject) =>
      ledger.reserve({ runs, horizon: 20, held: 0, epoch }, (error, reply) => {
        if (error) reject(error);
        epoch = reply?.epoch ?? 0;
        resolve();
      }),
    );
  const decide = () => new Promise<void>((resolve) => ledger.decide([1], () => resolve()));
  const store = () =>
    new Promise<void>((resolve) =>
      ledger.setRate({ limits: [limit], ifAbsent: false, keepState: true }, () => resolve()),
    );
  return { clock, take, decide, store };
}

const page = readFileSync(new URL('../../docs/costs.md', import.meta.url), 'utf8');

/** A row of the page's table: an operation, a kind of limit, and the commands. */
function assertSaid(operation: string, kind: string, commands: string): void {
  const row = `| ${operation} | ${kind} | ${commands} |`;
  assert.ok(page.replace(/ +/g, ' ').includes(row), `docs/costs.md has no row: ${row}`);
}

for (const [kind, limit] of kinds)
  for (const name of ['take', 'decide'] as const) {
    const operation = name === 'take' ? '`acquire`, `tryAcquire`' : '`decide`';
    test(`docs/costs.md has the commands that ${name} runs: ${kind}`, async ({ redis }) => {
      const { clock, take, decide } = callsOf(redis, limit);
      const call = name === 'take' ? take : decide;
      // The test passes the time in; otherwise each call reads it once.
      const commands = async () => `${await commandsOf(redis, call)}, TIME`;
      await call();
      await redis.flushdb();
      assertSaid(`${operation}: first`, kind, await commands());
      assertSaid(`${operation}: again`, kind, await commands());
      clock.ms += 100;
      assertSaid(`${operation}: 100 ms later`, kind, await commands());
      if (kind !== 'sliding window') return;
      for (let i = 0; i < 12; i++) {
        clock.ms += 100;
        await call();
      }
      clock.ms += 100;
      assertSaid(`${operation}: with a long log`, kind, await commands());
    });

    test(`with a stored rate, the first ${name} of a key runs the same commands: ${kind}`, async ({
      redis,
    }) => {
      const { take, decide, store } = callsOf(redis, limit);
      const call = name === 'take' ? take : decide;
      await call();
      await redis.flushdb();
      const commands = await commandsOf(redis, call);
      await store();
      // The client learns of it.
      await call();
      await redis.del('{p:n}');
      assert.is(await commandsOf(redis, call), commands);
    });
  }

test.run();
