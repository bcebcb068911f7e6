// Every number of a ledger that another program may have changed, in each of its forms.
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/index.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import { debt } from '../../src/stores/store.ts';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import { rejection } from '../support/badInput.ts';
import { openRedisLedger } from '../support/redisLedger.ts';
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

/** The fields of a whole ledger that are doubles, after the two bytes of kind and version; and those after the limits. */
const first = ['epoch', 'seen', 'expires'];
const rare = [
  ...['born', 'refundable', 'shift', 'pausedUntil', 'soleUntil', 'crowdUntil', 'pacedUntil'],
  ...[
    'granted',
    'returned',
    'freed',
    'movedAt',
    'lateAt',
    'credit',
    'largest',
    'largestUntil',
    'farthest',
    'farthestUntil',
  ],
  ...['voids', 'holes', 'tickets'],
];
/** The field after the name of the only client. */
const last = ['frontier'];
const client = 'me';
const rate = ['permits', 'interval', 'extra'];
/** The bytes of the numbers of a limit in the form of `lua/heads`, its three options and their checksum the last of them. */
const bytesOf: Record<Kind, number> = { slidingWindow: 61, fixedWindow: 60, tokenBucket: 61 };
/** What a bucket holds only after its limit was changed. */
const changes = [
  ...['owedUntil', 'unsureUntil', 'sameSince'],
  ...['formerUntil', 'formerSince', 'formerPermits', 'formerInterval'],
];
/** The windows of a fixed window before the last, of which it has one. */
const earlier = ['windows', 'most', 'start0', 'stop0', 'used0', 'newest0', 'reserved0'];
/** The fields in this form that are doubles, after the limit's text, and the bytes in between. */
const small: Record<Kind, [bytes: number, fields: string[]]> = {
  slidingWindow: [10, ['coarsest', 'under']],
  fixedWindow: [0, earlier],
  tokenBucket: [18, changes],
};
/** The end of the head in this form. */
const headEnd = 33;
/** The bytes of an option of a limit. */
const optionBytes = 7;

/** The text of a limit in this form. */
const textOf = (kind: Kind) =>
  `${{ slidingWindow: 's', fixedWindow: 'f', tokenBucket: 't' }[kind]}1,60000,${kind === 'fixedWindow' ? 0 : 1}]`;

/** The same in the form of all other ledgers. */
const whole: Record<Kind, string[]> = {
  slidingWindow: [
    ...['coarsest', 'total', 'newest', 'purged', 'oldest', 'length', 'openTime', 'openCount', 'under'],
  ],
  fixedWindow: ['start', 'stop', 'used', 'newest', 'reserved', 'gridShift', ...earlier],
  tokenBucket: [
    ...['units', 'ts', 'lastAt', 'steps', ...changes, 'present'],
    ...['since', 'until', 'held', 'since', 'until', 'held'],
  ],
};

/** The places of the fields. */
function placesIn(kind: Kind, isSmall: boolean, held: Buffer): [field: string, at: number][] {
  const places: [string, number][] = [];
  const put = (fields: readonly string[], at: number) => {
    for (const [i, field] of fields.entries()) places.push([field, at + 8 * i]);
    return at + 8 * fields.length;
  };
  let end: number;
  if (isSmall) {
    if (kind === 'tokenBucket') put(['units'], headEnd);
    const [bytes, fields] = small[kind];
    end = put(rare, put(fields, headEnd + bytesOf[kind] + textOf(kind).length + bytes));
  } else {
    put(first, 2);
    end = put(rare, put([...rate, ...whole[kind]], 30 + 4 + held.readUInt32LE(30) + 4 + 1));
  }
  put(last, end + 4 + client.length);
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
  ...last,
  ...[
    ...rate,
    'total',
    'openCount',
    'used',
    'used0',
    'windows',
    'length',
    'since',
    'until',
    'held',
    'ts',
    'steps',
  ],
]);
/** Those that are checked only in a whole ledger. */
const wholeCounts = new Set(['formerUntil', 'owedUntil', 'unsureUntil', 'reserved']);

/**
 * Numbers that a field must not hold. The numbers of a window, those that few small ledgers have, and the units of a bucket in
 * any other ledger, are only finite.
 */
function invalidFor(kind: Kind, isSmall: boolean, field: string): number[] {
  const numbers = [NaN, Infinity, -Infinity];
  const isOwn = [...first, ...rare, ...last].includes(field);
  const onlyFinite = isSmall ? small[kind][1].includes(field) : kind !== 'tokenBucket' || field === 'units';
  if (isOwn || !onlyFinite) numbers.push(2 ** 61);
  if (counts.has(field) || (!isSmall && wholeCounts.has(field))) numbers.push(-1);
  if (field === 'permits' || field === 'interval') numbers.push(0);
  // The list has an entry, so there must be an open one.
  if (field === 'openTime') numbers.push(0);
  // No step ends before it begins.
  if (field === 'since') numbers.push(2 ** 50);
  if (field === 'until') numbers.push(0);
  if (field === 'extra' && kind !== 'fixedWindow') numbers.push(0);
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
      assert.is(places.at(-1)![1] + 8, original.length);
      for (const [field, at] of places)
        for (const number of invalidFor(kind, isSmall, field)) {
          const held = Buffer.from(original);
          held.writeDoubleLE(number, at);
          await redis.set(key, held);
          const error = await rejection(ledger.peek());
          assert.instance(error, StoreError, `${field} of ${number}`);
          assert.match(error.message, `the key ${key} holds no ledger of version 21: found`);
          assert.ok(error.message.endsWith('; reset() deletes it'), error.message);
          assert.ok(held.equals((await redis.getBuffer(key))!));
        }
    });

for (const kind of Object.keys(kinds) as Kind[])
  test(`a ${kind} refuses each option of 0, also in a text that agrees`, async ({ redis }) => {
    const ledger = await taken(redis, kind, true);
    const original = (await redis.getBuffer(key))!;
    const text = headEnd + bytesOf[kind];
    const options = textOf(kind).slice(1, -1).split(',').map(Number);
    assert.is(original.toString('latin1', text, text + textOf(kind).length), textOf(kind));
    for (const [i, option] of options.entries()) {
      if (option === 0) continue;
      const held = Buffer.from(original);
      const at = text - optionBytes * (4 - i);
      held.fill(0, at, at + optionBytes);
      const others = `${textOf(kind)[0]}${options.map((other, j) => (i === j ? 0 : other))}]`;
      const damaged = Buffer.concat([
        held.subarray(0, text),
        Buffer.from(others),
        held.subarray(text + textOf(kind).length),
      ]);
      await redis.set(key, damaged);
      const { message } = await rejection(ledger.peek());
      assert.is(
        message.slice(message.indexOf('the key')),
        `the key ${key} holds no ledger of version 21: found an invalid limit; reset() deletes it`,
      );
    }
  });

for (const kind of Object.keys(kinds) as Kind[])
  for (const isSmall of [true, false])
    for (const end of ['', ':control'])
      test(`an empty string counts as no key: ${key}${end}, a ${kind}${isSmall ? '' : ' with a name'}`, async ({
        redis,
      }) => {
        const ledger = ledgerOf(redis, { [isSmall ? '' : 'a']: limitOf(kinds[kind]) });
        await redis.set(key + end, '');
        assert.equal(await ledger.peek(), [1]);
        await redis.set(key + end, '');
        assert.is((await ledger.decide([1])).granted, true);
        // What the grant has written is valid, and counts.
        assert.ok((await redis.strlen(key)) > 0);
        assert.is((await ledger.decide([1])).granted, false);
      });

for (const isSmall of [true, false])
  test(`a debt refuses each invalid number, ${isSmall ? 'in a small ledger' : 'in any other ledger'}`, async ({
    redis,
  }) => {
    const ledger = await taken(redis, 'slidingWindow', isSmall);
    await ledger.refund([{ moment: debt, epoch: 0, source: 'redis', cost: [1], count: 1 }], 1);
    const original = (await redis.getBuffer(key))!;
    const invalid = [NaN, Infinity, -Infinity, -1, 2 ** 61];
    for (const [i, numbers] of [[...invalid, 0, 0.5, 2], invalid, invalid, invalid].entries())
      for (const number of numbers) {
        const held = Buffer.from(original);
        held.writeDoubleLE(number, original.length - 32 + 8 * i);
        await redis.set(key, held);
        const { message } = await rejection(ledger.peek());
        assert.match(message, `the key ${key} holds no ledger of version 21: found`);
      }
    const debts = original.subarray(-32);
    for (const held of [original.subarray(0, -8), Buffer.concat([original, ...Array(32).fill(debts)])]) {
      await redis.set(key, held);
      const { message } = await rejection(ledger.peek());
      assert.match(message, 'of another length');
    }
    await redis.set(key, Buffer.concat([original, ...Array(31).fill(debts)]));
    assert.equal(await ledger.peek(), [0]);
  });

test('a log or a history of an invalid length is refused', async ({ redis }) => {
  /** The place of the length, that of the open entry, and invalid lengths. */
  const lengths = [
    ['slidingWindow', headEnd + 26, [9, 254]],
    ['tokenBucket', headEnd + 14, [255]],
  ] as const;
  for (const [kind, at, invalid] of lengths) {
    const ledger = await taken(redis, kind, true);
    const original = (await redis.getBuffer(key))!;
    assert.is(original[at], kind === 'slidingWindow' ? 1 : 2);
    for (const length of invalid) {
      const held = Buffer.concat([original, Buffer.alloc(10_000)]);
      held[at] = length;
      await redis.set(key, held);
      const { message } = await rejection(ledger.peek());
      assert.match(message, kind === 'slidingWindow' ? 'an invalid log' : 'a history of too many steps');
    }
  }
  const ledger = await taken(redis, 'slidingWindow', true);
  const held = (await redis.getBuffer(key))!;
  held.fill(0, headEnd + 20, headEnd + 26);
  await redis.set(key, held);
  assert.match((await rejection(ledger.peek())).message, 'an invalid log');
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
    // Only for a new ledger, the fast path reads the control. It does not need the moment of the last change, at 40.
    await redis.del(key);
    for (let at = 0; at < 40; at += 8)
      for (const number of [NaN, Infinity, -Infinity, -1, 2 ** 61]) {
        const found = await errorWith(redis, { at, number, of: `${key}:control` }, () => ledger.decide([1]));
        assert.is(
          found.slice(found.indexOf('the key')),
          `the key ${key}:control holds no control of version 2: found other data; delete() deletes it`,
        );
      }
  }
});

test('an epoch that no head can hold is kept by the first grant', async ({ redis }) => {
  const limit = limitOf({ ...kinds.slidingWindow, permits: 9 });
  const config = { name: 'n', prefix: 'p', clientId: 'me', names: [''], limits: [limit] };
  await new Promise<void>((resolve) =>
    openRedisLedger(config, scriptsOf(redis)).setRate(
      { limits: [limit], ifAbsent: false, keepState: true },
      () => resolve(),
    ),
  );
  const control = (await redis.getBuffer(`${key}:control`))!;
  for (const [forgotten, letter] of [
    [2 ** 56 - 8, 's'],
    [2 ** 56, 'w'],
  ] as const) {
    control.writeDoubleLE(forgotten, 32);
    await redis.set(`${key}:control`, control);
    await redis.del(key);
    const { epoch } = await ledgerOf(redis, { '': limit }).reserve([1]);
    // As a number of 17 digits, it is rounded.
    assert.ok(Math.abs(epoch - forgotten) < 16, `${epoch}`);
    assert.is((await redis.get(key))![0], letter);
  }
});

test('a list that lost its newest entries counts all permits as granted with the newest one', async ({
  redis,
}) => {
  const limit = limitOf({ ...kinds.slidingWindow, permits: 40 });
  const ledger = ledgerOf(redis, { a: limit });
  for (let i = 0; i < 40; i++) {
    await ledger.reserve([1]);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const log = `${key}:log:a`;
  const entries = await redis.llen(log);
  assert.ok(entries > 30);
  const newest = (await redis.lindexBuffer(log, -1))!.readDoubleLE(0);
  const read = async () => {
    const runs = [2, 30].map((permits) => ({ count: 1, cost: [permits], maxWait: Infinity }));
    return new Promise<number[]>((resolve, reject) =>
      openRedisLedger(
        { name: 'n', prefix: 'p', clientId: 'me', names: ['a'], limits: [limit] },
        scriptsOf(redis),
      ).reserve({ runs, horizon: 1e9, held: 0, epoch: 0 }, (error, reply) =>
        error ? reject(error) : resolve(reply!.segments.map(({ delay }) => reply!.now + delay)),
      ),
    );
  };
  // The search for two permits ends within the first entries that it reads, and that for thirty does not.
  await redis.ltrim(log, 0, 19);
  const [, last] = await read();
  assert.ok(last >= newest + 60_000, `${last - newest}`);
});

test('an invalid sequence of refunds is refused', async ({ redis }) => {
  const ledger = await taken(redis, 'slidingWindow', true);
  const refund = () => ledger.refund([{ moment: 1, epoch: 1, source: 'redis', cost: [1], count: 1 }], 1);
  await refund();
  const [of] = await redis.keys('*:sequence:*');
  for (const at of [0, 8])
    for (const number of [NaN, Infinity, -Infinity, -1, 2 ** 61]) {
      const found = await errorWith(redis, { at, number, of }, refund);
      assert.ok(
        found.endsWith('holds no sequence of refunds: found other data; the command DEL deletes it'),
        found,
      );
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
  for (const kind of Object.keys(kinds) as Kind[]) {
    const bytes = headEnd + bytesOf[kind] + textOf(kind).length;
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
