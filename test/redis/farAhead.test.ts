import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { debt } from '../../src/stores/store.ts';
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

test('reservations that wait for a slow limit are read by no later one, unless they still count then', async ({
  redis,
}) => {
  const fast = slidingWindow({ permits: 10_000, interval: 1_000, resolution: 1 });
  const slow = tokenBucket({ permits: 1, interval: 100 });
  const [first, second] = ['first', 'second'].map((clientId) =>
    ledgerOf(redis, { fast, slow }, { clientId, serverTime: () => 1.7e15 }),
  );
  for (const ledger of [first, second, first, second])
    await ledger.reserve([1, 1], { count: 500, maxWait: Infinity });
  assert.ok((await redis.llen('{p:n}:log:fast')) > 1900);
  await redis.config('RESETSTAT');
  const { segments } = await first.reserve([1, 1], { maxWait: Infinity });
  assert.ok(segments[0].delay > 190_000);
  const read = /cmdstat_lrange:calls=(\d+)/.exec(await redis.info('commandstats'));
  assert.ok(Number(read?.[1] ?? 0) <= 2, `${read?.[1]} parts of the log`);
});

test('a log of two intervals is not too long for a request of nearly all permits', async ({ redis }) => {
  const window = slidingWindow({ permits: 3000, interval: 10_000, resolution: 1 });
  let ms = 1.7e12;
  const [first, second] = ['first', 'second'].map((clientId) =>
    ledgerOf(redis, { '': window }, { clientId, serverTime: () => ms * 1000 }),
  );
  for (let i = 0; i < 2850; i++) {
    // From the 2,048th entry on, they are ten milliseconds apart.
    ms += i < 2048 ? 1 : 9.9;
    assert.ok((await first.decide([1])).granted);
  }
  assert.ok((await first.decide([150])).granted);
  for (let i = 0; i < 3; i++)
    for (const ledger of [first, second]) await ledger.reserve([1], { count: 480, maxWait: Infinity });
  assert.ok((await redis.llen('{p:n}:log:')) > 3328);
  const { segments } = await first.reserve([[1], [2999]], { maxWait: Infinity });
  assert.ok(segments.every(({ delay }) => delay > 0));
});

test('a wait of more microseconds than a reply can hold is the longest one that it can hold', async ({
  redis,
}) => {
  const slowest = { '': slidingWindow({ permits: 1, interval: 1e12, resolution: 1 }) };
  const [first, second] = ['first', 'second'].map((clientId) => ledgerOf(redis, slowest, { clientId }));
  await first.reserve([1]);
  // Each is charged as a thousand intervals, of 31 years.
  for (const sequence of [1, 2, 3, 4, 5])
    await first.refund([{ moment: debt, epoch: 0, source: 'redis', cost: [1e6], count: 1 }], sequence);
  const longest = 2 ** 62 / 1000;
  const refused = await second.decide([1]);
  assert.equal([refused.retryAfter, refused.resetAfter], [longest, longest]);
  const [{ delay }] = (await first.reserve([1], { maxWait: Infinity })).segments;
  assert.is(delay, longest);
  for (const maxWait of [0, 1_000])
    for (const ledger of [first, second]) {
      const [{ retryAfter }] = (await ledger.reserve([1], { maxWait })).segments;
      assert.is(retryAfter, longest);
    }
});

test.run();
