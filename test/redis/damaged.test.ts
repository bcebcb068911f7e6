// Every number of a ledger that another program may have changed, in each of its forms.
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/index.ts';
import { openRedisLedger } from '../../src/stores/redis/redisStore.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import { rejection } from '../support/badInput.ts';
import { ledgerOf, type PromiseLedger } from './ledgers.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('damaged ledgers');
const key = '{p:n}';

const kinds = {
  slidingWindow: { kind: 'slidingWindow', permits: 1, interval: 60_000, resolution: 1 },
  fixedWindow: { kind: 'fixedWindow', permits: 1, interval: 60_000, align: 'first' },
  tokenBucket: { kind: 'tokenBucket', permits: 1, interval: 60_000, burst: 1 },
} as const;
type Kind = keyof typeof kinds;

/** The fields of all ledgers that are doubles, after the two bytes of kind and version; and those after the limits. */
const first = ['epoch', 'seen', 'expires'];
const rare = [
  ...['born', 'refundable', 'shift', 'pausedUntil', 'soleUntil', 'crowdUntil', 'frontier', 'pacedUntil'],
  ...['granted', 'returned', 'freed', 'movedAt', 'credit', 'largest', 'largestUntil'],
  ...['voids', 'holes', 'tickets'],
];
const rate = ['permits', 'interval', 'extra'];
/** The fields of a limit in the form of `lua/heads`: before and after the parts that are no doubles, with their bytes. */
const small: Record<Kind, [before: string[], bytes: number, after: string[]]> = {
  slidingWindow: [['total', 'newest', 'purged', 'openTime', 'openCount'], 1 + 10, ['coarsest']],
  fixedWindow: [
    ['start', 'stop', 'used', 'newest', 'reserved'],
    0,
    ['start0', 'stop0', 'used0', 'newest0', 'reserved0'],
  ],
  tokenBucket: [['units'], 6 + 1 + 2 * 18, ['owedUntil', 'unsureUntil', 'sameSince']],
};
/** The same in the form of all other ledgers. */
const whole: Record<Kind, string[]> = {
  slidingWindow: [...['coarsest', 'total', 'newest', 'purged', 'oldest', 'length', 'openTime', 'openCount']],
  fixedWindow: [
    ...['start', 'stop', 'used', 'newest', 'reserved'],
    ...['start0', 'stop0', 'used0', 'newest0', 'reserved0', 'gridShift'],
  ],
  tokenBucket: [
    ...['units', 'ts', 'owedUntil', 'lastAt', 'unsureUntil', 'sameSince', 'steps'],
    ...['since', 'until', 'held', 'since', 'until', 'held'],
  ],
};

/** The places of the fields. */
function placesIn(kind: Kind, isSmall: boolean, held: Buffer): [field: string, at: number][] {
  const places: [string, number][] = first.map((field, i) => [field, 2 + 8 * i]);
  const put = (fields: readonly string[], at: number) => {
    for (const [i, field] of fields.entries()) places.push([field, at + 8 * i]);
    return at + 8 * fields.length;
  };
  if (isSmall) {
    const [before, bytes, after] = small[kind];
    put(rare, put(after, put([...rate, ...before], 36) + bytes));
  } else put(rare, put([...rate, ...whole[kind]], 30 + 4 + held.readUInt32LE(30) + 4 + 1));
  return places;
}

/** A ledger with one grant and one reservation. */
async function taken(redis: Redis, kind: Kind, isSmall: boolean): Promise<PromiseLedger> {
  await redis.flushall();
  const ledger = ledgerOf(redis, { [isSmall ? '' : 'a']: limitOf(kinds[kind]) });
  await ledger.reserve([1], { count: 2, maxWait: Infinity });
  return ledger;
}

/** Counts and moments of which none is below zero. */
const counts = new Set([
  ...first,
  ...rare,
  ...[...rate, 'total', 'openCount', 'used', 'used0', 'length', 'since', 'until', 'held', 'ts', 'steps'],
]);
/** Those that are checked only where they are in a small ledger, or only in another. */
const smallCounts = new Set(['newest', 'openTime', 'stop']);
const wholeCounts = new Set(['owedUntil', 'unsureUntil']);

/** Numbers that a field must not hold. The numbers of a window, and those that few small ledgers have, are only finite. */
function invalidFor(kind: Kind, isSmall: boolean, field: string): number[] {
  const numbers = [NaN, Infinity, -Infinity];
  const isOwn = first.includes(field) || rare.includes(field);
  const onlyFinite = isSmall ? small[kind][2].includes(field) : kind !== 'tokenBucket';
  if (isOwn || !onlyFinite) numbers.push(2 ** 61);
  const others = isSmall ? smallCounts : wholeCounts;
  if (counts.has(field) || others.has(field)) numbers.push(-1);
  if (field === 'permits' || field === 'interval') numbers.push(0);
  if (field === 'extra' && kind !== 'fixedWindow') numbers.push(0);
  if (field === 'purged' && isSmall) numbers.push(-2);
  if (field === 'reserved') numbers.push(-1);
  return numbers;
}

for (const kind of Object.keys(kinds) as Kind[])
  for (const isSmall of [true, false])
    test(`a ${kind} refuses each invalid number, ${isSmall ? 'in a small ledger' : 'in any other ledger'}`, async ({
      redis,
    }) => {
      const ledger = await taken(redis, kind, isSmall);
      const original = (await redis.getBuffer(key))!;
      const places = placesIn(kind, isSmall, original);
      const end = places.at(-1)![1] + 8;
      // The client's name follows.
      assert.is(end + 4 + 'me'.length, original.length);
      for (const [field, at] of places)
        for (const number of invalidFor(kind, isSmall, field)) {
          const held = Buffer.from(original);
          held.writeDoubleLE(number, at);
          await redis.set(key, held);
          const error = await rejection(ledger.peek());
          assert.instance(error, StoreError, `${field} of ${number}`);
          assert.match(error.message, `the key ${key} holds no ledger of version 9: found`);
          assert.ok(error.message.endsWith('; reset() deletes it'), error.message);
          assert.ok(held.equals((await redis.getBuffer(key))!));
        }
    });

/** Changes a double of a key, and returns the error of a call. */
async function errorWith(
  redis: Redis,
  { at, number, of }: { at: number; number: number; of: string },
  call: () => Promise<unknown>,
): Promise<string> {
  const original = (await redis.getBuffer(of))!;
  const held = Buffer.from(original);
  held.writeDoubleLE(number, at);
  await redis.set(of, held);
  const error = await rejection(call());
  assert.instance(error, StoreError, `${number} at ${at}`);
  await redis.set(of, original);
  return error.message;
}

test('an invalid number anywhere in the control of a single limit is refused', async ({ redis }) => {
  for (const kind of Object.keys(kinds) as Kind[]) {
    await redis.flushall();
    const limit = limitOf({
      ...kinds[kind],
      permits: 9,
      ...(kind === 'tokenBucket' && { burst: 9 }),
    } as LimitSpec);
    const config = { name: 'n', prefix: 'p', clientId: 'me', names: [''], limits: [limit] };
    const control = openRedisLedger(config, scriptsOf(redis));
    await new Promise<void>((resolve) =>
      control.setRate({ limits: [limit], ifAbsent: false, keepState: true }, () => resolve()),
    );
    const ledger = ledgerOf(redis, { '': limit });
    await ledger.decide([1]);
    // The fast path does not need the moment of the last change, at 40.
    for (let at = 0; at < 40; at += 8)
      for (const number of [NaN, Infinity, -Infinity, -1, 2 ** 61]) {
        const found = await errorWith(redis, { at, number, of: `${key}:control` }, () => ledger.decide([1]));
        assert.is(
          found.slice(found.indexOf('the key')),
          `the key ${key}:control holds no control of version 2: found other data; DEL deletes it`,
        );
      }
  }
});

test('an invalid sequence of refunds is refused', async ({ redis }) => {
  const ledger = await taken(redis, 'slidingWindow', true);
  const refund = () => ledger.refund([{ moment: 1, epoch: 1, source: 'redis', cost: [1], count: 1 }], 1);
  await refund();
  const [of] = await redis.keys('*:sequence:*');
  for (const at of [0, 8])
    for (const number of [NaN, Infinity, -Infinity, -1, 2 ** 61]) {
      const found = await errorWith(redis, { at, number, of }, refund);
      assert.ok(found.endsWith('holds no sequence of refunds: found other data; DEL deletes it'), found);
    }
});

test('an invalid number anywhere in a list is refused', async ({ redis }) => {
  const limit = limitOf({ ...kinds.slidingWindow, permits: 11 });
  const ledger = ledgerOf(redis, { a: limit });
  // One entry for each millisecond in which there was a grant.
  for (let i = 0; i < 11; i++) {
    await ledger.reserve([1]);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const log = `${key}:log:a`;
  const original = (await redis.lindexBuffer(log, 2))!;
  for (const at of [0, 8])
    for (const number of [NaN, Infinity, -Infinity, -1, 2 ** 61]) {
      const held = Buffer.from(original);
      held.writeDoubleLE(number, at);
      await redis.lset(log, 2, held);
      // The search for free permits reads the list.
      const { message } = await rejection(ledger.reserve([1], { maxWait: Infinity }));
      assert.ok(
        message.endsWith(`the key ${log} holds no log: found an invalid entry; reset() deletes it`),
        message,
      );
    }
});

test('a ledger without reservations, pauses or changes is no longer than its head', async ({ redis }) => {
  for (const [kind, bytes] of [
    ['slidingWindow', 101],
    ['fixedWindow', 100],
    ['tokenBucket', 75 + 18],
  ] as const) {
    await redis.flushall();
    const ledger = ledgerOf(redis, { '': limitOf(kinds[kind]) });
    await ledger.decide([1]);
    assert.is(await redis.strlen(key), bytes, `${kind}, by the fast path`);
    await ledger.peek();
    assert.is(await redis.strlen(key), bytes, `${kind}, by the slow path`);
  }
});

test('an entry that another program has added to the list is removed by the next grant', async ({
  redis,
}) => {
  const ledger = ledgerOf(redis, { '': limitOf({ ...kinds.slidingWindow, permits: 50 }) });
  const grant = async () => {
    await ledger.reserve([1]);
    await new Promise((resolve) => setTimeout(resolve, 2));
  };
  for (let i = 0; i < 12; i++) await grant();
  const log = `${key}:log:`;
  const before = await redis.lrangeBuffer(log, 0, -1);
  await redis.rpush(log, Buffer.alloc(16));
  await grant();
  const after = await redis.lrangeBuffer(log, 0, -1);
  assert.is(after.length, before.length + 1);
  assert.not(after.at(-1)!.equals(Buffer.alloc(16)));
  assert.equal(after.slice(0, -1), before);
  assert.equal(await ledger.peek(), [37]);
});

test.run();
