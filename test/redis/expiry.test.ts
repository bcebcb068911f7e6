import fc from 'fast-check';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { fixedWindow, leakyBucket, slidingWindow, tokenBucket } from '../../src/index.ts';
import type { Refund } from '../../src/stores/store.ts';
import { until } from '../support/until.ts';
import { ledgerOf, type PromiseLedger, refundsOf } from './ledgers.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('expiry');

/** The time to live of each key, in ms. */
async function lives(redis: Redis): Promise<Map<string, number>> {
  const keys = await redis.keys('*');
  const left = await Promise.all(keys.map((key) => redis.pttl(key)));
  return new Map(keys.map((key, i) => [key, left[i]]));
}

/** Asserts a time to live: the expected one, rounded up, or up to twice as long, less the time that the test has taken. */
function assertLives(left: number | undefined, expected: number): void {
  assert.ok(
    left !== undefined && left <= 2 * expected + 4 && left > expected - 1500,
    `${left} ms, not ${expected}`,
  );
}

const minute = 60_000;
const limits = [
  ['a sliding window', slidingWindow({ permits: 2, interval: minute, resolution: 1 }), minute],
  [
    'a sliding window of slots',
    slidingWindow({ permits: 2, interval: minute, resolution: minute }),
    2 * minute,
  ],
  ['a fixed window', fixedWindow({ permits: 2, interval: minute }), minute],
  ['a token bucket', tokenBucket({ permits: 2, interval: minute }), minute / 2],
  ['a leaky bucket', leakyBucket({ permits: 2, interval: minute }), minute / 2],
] as const;

for (const [title, limit, recovery] of limits)
  test(`${title} expires when it is full again`, async ({ redis }) => {
    const { resetAfter } = await ledgerOf(redis, { '': limit }).decide([1]);
    const left = await lives(redis);
    assert.equal([...left.keys()], ['{p:n}']);
    assert.ok(resetAfter <= recovery + 1);
    assertLives(left.get('{p:n}'), Math.ceil(resetAfter));
  });

test('a limit that is full again within a millisecond keeps its epoch for 100 ms', async ({ redis }) => {
  const ledger = ledgerOf(redis, { '': tokenBucket({ permits: 1e6, interval: 1_000 }) });
  let first = await ledger.reserve([1]);
  let later = first;
  while (later.now < first.now + 3) {
    later = await ledger.reserve([1]);
    // The server was slow.
    if (later.now > first.now + 90) first = later;
  }
  assert.equal(later.epoch, first.epoch);
});

test('an aligned window expires when it ends', async ({ redis }) => {
  const limit = fixedWindow({ permits: 2, interval: minute, align: 'epoch' });
  await ledgerOf(redis, { '': limit }).decide([1]);
  const [seconds, micros] = await redis.time();
  const left = minute - ((Number(seconds) * 1000 + Number(micros) / 1000) % minute);
  assertLives((await lives(redis)).get('{p:n}'), Math.ceil(left) + 1000);
});

test('a key lives at most 2^32 ms longer than a long window', async ({ redis }) => {
  const interval = 1e11;
  await ledgerOf(redis, { '': fixedWindow({ permits: 2, interval }) }).decide([1]);
  const left = (await lives(redis)).get('{p:n}')!;
  const longer = left - interval;
  assert.ok(longer <= 2 ** 32 && longer > 2 ** 32 - 1500, `${longer} ms longer`);
});

test('the keys of reservations and their log live until all permits are free', async ({ redis }) => {
  const ledger = ledgerOf(redis, { '': slidingWindow({ permits: 1, interval: minute, resolution: 1 }) });
  await ledger.reserve([1], { count: 12, maxWait: Infinity });
  const left = await lives(redis);
  assert.equal([...left.keys()].sort(), ['{p:n}', '{p:n}:log:']);
  for (const ms of left.values()) assertLives(ms, 12 * minute);
});

test('a ledger that is needed for less than a quarter of its life is renewed', async ({ redis }) => {
  const limit = tokenBucket({ permits: 1, interval: 60, burst: 1000 });
  for (const [unused, expected] of [
    [450, 120],
    [530, 2 * 28.2],
  ]) {
    await redis.flushall();
    const ledger = ledgerOf(redis, { '': limit });
    const [grant] = refundsOf(await ledger.reserve([1], { count: 1000 }), [1]);
    await ledger.refund([{ ...grant, count: unused }], 1);
    const left = (await redis.pttl('{p:n}')) / 1000;
    assert.ok(Math.abs(left - expected) < 2, `${left} s after a refund of ${unused}`);
  }
});

test('a ledger whose grants are all refunded is removed at once', async ({ redis }) => {
  const ledger = ledgerOf(redis, { '': tokenBucket({ permits: 2, interval: minute }) });
  const reply = await ledger.reserve([1], { count: 2 });
  await ledger.refund(refundsOf(reply, [1]), 1);
  await until('only the sequence of the refund remains', async () => (await lives(redis)).size === 1);
  assert.match([...(await lives(redis)).keys()][0], /^\{p:n\}:sequence:/);
});

test('after its interval, a limiter leaves only the sequence of its refunds, for a minute at most', async ({
  redis,
}) => {
  const windows = {
    a: slidingWindow({ permits: 1, interval: 40, resolution: 1 }),
    b: fixedWindow({ permits: 1, interval: 40 }),
  };
  const ledger = ledgerOf(redis, windows);
  await ledger.refund(
    refundsOf(await ledger.reserve([1, 1], { count: 3, maxWait: Infinity }), [1, 1]).slice(1),
    1,
  );
  assert.ok((await redis.dbsize()) > 1);
  await until('one key is left', async () => (await redis.dbsize()) === 1, { within: 3_000 });
  const [[key, left]] = await lives(redis);
  assert.match(key, /^\{p:n\}:sequence:/);
  assert.ok(left > 0 && left <= minute, `${left} ms`);
});

const operation = fc.record({
  client: fc.nat(2),
  kind: fc.constantFrom('reserve', 'reserve', 'reserve', 'decide', 'refund', 'peek', 'wait'),
  count: fc.integer({ min: 1, max: 8 }),
  cost: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 3, maxLength: 3 }),
  maxWait: fc.constantFrom(0, 30, Infinity),
});

test('after any operations, every key expires', async ({ redis }) => {
  const windows = (interval: number) => ({
    a: slidingWindow({ permits: 3, interval, resolution: 1 }),
    b: tokenBucket({ permits: 3, interval }),
    c: fixedWindow({ permits: 3, interval }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(operation, { maxLength: 25 }),
      fc.constantFrom(5, 50, 5000),
      async (steps, interval) => {
        await redis.flushall();
        const clients = [0, 1, 2].map((i) => ledgerOf(redis, windows(interval), { clientId: `${i}` }));
        const granted: Refund[][] = [[], [], []];
        for (const [i, { client, ...step }] of steps.entries()) {
          await perform(clients[client], step, granted[client], i);
          for (const [key, left] of await lives(redis)) {
            // -2: the key has expired meanwhile.
            // A sequence of refunds is kept for a minute or longer, since refunds may be resent.
            const most = 600 * interval + 10_000 + (key.includes(':sequence:') ? minute : 0);
            assert.ok(left !== -1 && left < most, `${key} lives for ${left} ms`);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

async function perform(
  ledger: PromiseLedger,
  { kind, count, cost, maxWait }: { kind: string; count: number; cost: number[]; maxWait: number },
  granted: Refund[],
  sequence: number,
): Promise<void> {
  const some = cost.some((n) => n > 0) ? cost : [1, 0, 0];
  if (kind === 'reserve') granted.push(...refundsOf(await ledger.reserve(some, { count, maxWait }), some));
  else if (kind === 'decide') await ledger.decide(some);
  else if (kind === 'peek') await ledger.peek();
  else if (kind === 'refund') await ledger.refund(granted.splice(-count), sequence + 1);
  else await new Promise((resolve) => setTimeout(resolve, count));
}

test('a call that adds nothing to the log renews its key with that of the ledger', async ({ redis }) => {
  const limit = slidingWindow({ permits: 30, interval: 900, resolution: 1 });
  let serverUs = 1_700_000_000_000_000;
  const ledger = ledgerOf(redis, { '': limit }, { serverTime: () => serverUs });
  const decide = async (permits: number) => (await ledger.decide([permits])).granted;
  assert.ok(await decide(1));
  serverUs += 160_000;
  // More entries than the ledger holds itself.
  for (let i = 0; i < 20; i++) {
    serverUs += 40_000;
    assert.ok(await decide(1));
  }
  // The ledger has to live for longer now than the first call demanded. One more permit than is free: the fast path refuses it.
  serverUs += 50_000;
  assert.not(await decide(11));
  const [ofLedger, ofLog] = [...(await lives(redis)).entries()].sort().map(([, left]) => left);
  assert.ok(ofLog > ofLedger - 200, `${ofLog} ms, the ledger ${ofLedger} ms`);
});

test.run();
