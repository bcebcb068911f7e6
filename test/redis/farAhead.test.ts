import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { ledgerOf } from './ledgers.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('far ahead');
const limits = { '': slidingWindow({ permits: 1_000, interval: 1_000, resolution: 1 }) };

/** Seconds that the server's processor has worked. */
async function worked(redis: Redis): Promise<number> {
  const [, system, user] = /used_cpu_sys:(.*)\r\nused_cpu_user:(.*)\r\n/.exec(await redis.info('cpu'))!;
  return Number(system) + Number(user);
}

/** Seconds of the server for each moment that a call books, with a log that is full. */
async function costOf(redis: Redis, count: number): Promise<number> {
  await redis.flushall();
  const [first, second] = ['first', 'second'].map((clientId) => ledgerOf(redis, limits, { clientId }));
  // With two clients in line moments are booked one by one, and for each of them one has to leave the log.
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
  // Where the walk over the log begins at its oldest entry for each moment, the later ones cost many times as much.
  assert.ok(costs[1] < 4 * costs[0], `${costs.map((cost) => (cost * 1e6).toFixed(1))} µs a moment`);
});

test.run();
