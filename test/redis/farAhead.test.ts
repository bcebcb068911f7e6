import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { ledgerOf } from './ledgers.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('far ahead');
const limits = { '': slidingWindow({ permits: 1_000, interval: 1_000, resolution: 1 }) };

/** The CPU time of the server in seconds. */
async function worked(redis: Redis): Promise<number> {
  const [, system, user] = /used_cpu_sys:(.*)\r\nused_cpu_user:(.*)\r\n/.exec(await redis.info('cpu'))!;
  return Number(system) + Number(user);
}

/** The server's CPU seconds for each reservation of a call, with a full log. */
async function costOf(redis: Redis, count: number): Promise<number> {
  await redis.flushall();
  const [first, second] = ['first', 'second'].map((clientId) => ledgerOf(redis, limits, { clientId }));
  // With two waiting clients, moments are reserved one by one, and each needs an entry to leave the log.
  await first.reserve([1], { count: 1_001, maxWait: Infinity });
  await second.reserve([1], { count: 1_000, maxWait: Infinity });
  const before = await worked(redis);
  const { segments } = await first.reserve([1], { count, maxWait: Infinity });
  return ((await worked(redis)) - before) / segments.length;
}

test('a call with many reservations does work in proportion to their number, however long the log is', async ({
  redis,
}) => {
  const costs: number[] = [];
  for (const count of [500, 4_000]) {
    const tries: number[] = [];
    for (let i = 0; i < 3; i++) tries.push(await costOf(redis, count));
    costs.push(Math.min(...tries));
  }
  // If each search of the log began at its oldest entry, the later reservations would cost many times as much.
  assert.ok(
    costs[1] < 4 * costs[0],
    `${costs.map((cost) => (cost * 1e6).toFixed(1))} µs for each reservation`,
  );
});

test.run();
