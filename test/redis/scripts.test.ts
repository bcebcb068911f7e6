// The text of each script, and the arguments that it refuses.
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { slidingWindow, tokenBucket } from '../../src/index.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { ControlledLedger, Run } from '../../src/stores/store.ts';
import { assemble, scripts } from '../../tools/lua.mjs';
import { openRedisLedger } from '../support/redisLedger.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('scripts');
const lua = fileURLToPath(new URL('../../lua', import.meta.url));

// Lua refuses a script of more than 200 local variables: it would fail only when it is loaded.
for (const file of scripts(lua))
  test(`${file.slice(lua.length + 1)} has room for more local variables`, async ({ redis }) => {
    const locals = Array.from({ length: 10 }, (_, i) => `local spare${i}\n`).join('');
    assert.match(String(await redis.script('LOAD', locals + assemble(file, lua).text)), /^[0-9a-f]{40}$/);
  });

const one: Run = { count: 1, cost: [1], maxWait: Infinity };
const refused: [title: string, run: Run][] = [
  ['a negative cost', { ...one, cost: [-1] }],
  ['a cost that is NaN', { ...one, cost: [Number.NaN] }],
  ['an infinite cost', { ...one, cost: [Infinity] }],
  ['a cost of 2^53', { ...one, cost: [2 ** 53] }],
  ['no request', { ...one, count: 0 }],
  ['a negative number of requests', { ...one, count: -1 }],
  ['an infinite number of requests', { ...one, count: Infinity }],
  ['2^53 requests', { ...one, count: 2 ** 53 }],
];

for (const limit of [
  slidingWindow({ permits: 10, interval: 1000 }),
  tokenBucket({ permits: 10, interval: 1000 }),
])
  for (const [title, run] of refused)
    test(`a ${limit.kind} refuses ${title}, and grants nothing`, async ({ redis }) => {
      const config = { name: 'n', prefix: 'p', clientId: 'me', names: [''], limits: [limit] };
      const ledger: ControlledLedger = openRedisLedger(config, scriptsOf(redis));
      const reserve = (runs: Run[], epoch: number) =>
        new Promise<number>((resolve, reject) =>
          ledger.reserve({ runs, horizon: 1e9, held: 0, epoch }, (error, reply) =>
            error ? reject(error) : resolve(reply!.epoch),
          ),
        );
      const epoch = await reserve([one], 0);
      const [key] = await redis.keys('*');
      const before = await redis.getBuffer(key);
      // By the fast path, with the epoch that it knows, and by the slow path.
      for (const known of [epoch, 0])
        await reserve([one, run].slice(known === epoch ? 1 : 0), known).then(
          () => assert.unreachable('granted'),
          (error) => assert.is(error.code, 'ERR_SLUICE_STORE'),
        );
      const cost = run.cost[0];
      if (run.count === 1)
        await new Promise<void>((resolve) =>
          ledger.decide([cost], (error) => {
            assert.is((error as { code?: string } | null)?.code, 'ERR_SLUICE_STORE');
            resolve();
          }),
        );
      assert.equal(await redis.getBuffer(key), before);
    });

test.run();
