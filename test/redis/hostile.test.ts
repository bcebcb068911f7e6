import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { StoreError, slidingWindow } from '../../src/index.ts';
import { limitOf } from '../properties/specs.ts';
import { rejection } from '../support/badInput.ts';
import { runsOf } from '../support/campaign.ts';
import { ledgerOf } from './ledgers.ts';
import { MixedCalls, sliding } from './mixedCalls.ts';
import { type OnRedis, redisSuite } from './redisSuite.ts';

const test = redisSuite('hostile keys');

/** The longest time of a call on the server, in µs, whatever its keys contain: some thousand times the usual one. */
const bound = 200_000;
const [ledger, control, contenders, log] = ['', ':control', ':contenders', ':log:log'].map(
  (end) => `{p:n}${end}`,
);

/** The keys after many calls, with contenders. */
async function lively(redis: Redis, seed: number, single = false): Promise<MixedCalls> {
  await redis.flushall();
  const calls = new MixedCalls(seed, { single });
  await calls.make(80, calls.clients(redis, 'all'));
  assert.equal(calls.refusals, []);
  return calls;
}

/** Calls of every kind: each succeeds, or fails with an error for the invalid key, within the longest time. */
async function survives({ server, connect }: OnRedis, calls: MixedCalls, count = 20): Promise<void> {
  // Does not wait for a server that never replies.
  const redis = connect({ commandTimeout: 20_000 });
  await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', bound);
  await server.command('SLOWLOG', 'RESET');
  await calls.make(count, calls.clients(redis, 'all'));
  for (const error of calls.refusals) {
    assert.instance(error, StoreError);
    // What was expected, what was found, and what to do; or, of a stored rate, what was expected.
    const inStyle =
      /the key .* holds no .*: (found .*; (reset\(\)|delete\(\)|the command DEL) deletes it|expected \[\[name)|the stored rate has the limits/;
    assert.ok(inStyle.test(error.message), error.message);
    assert.not(/bad argument|attempt to|table:|found user_script/.test(error.message), error.message);
  }
  assert.equal(await server.command('SLOWLOG', 'LEN'), 0, 'a slow call');
}

/** Numbers that pass every comparison, or none. */
const wrong = [NaN, Infinity, -Infinity, -1, 1e300];

test('an invalid number anywhere in the head of a ledger is refused', async (context) => {
  const { redis } = context;
  const calls = await lively(redis, 1);
  const original = (await redis.getBuffer(ledger))!;
  // After the texts of the limits and their states follow the remaining fields of all ledgers.
  const texts = 30 + 4 + original.readUInt32LE(30) + 4 + 2;
  // Of a sliding window, a bucket, and the steps of the bucket.
  const rest = texts + (12 + 15) * 8 + original.readDoubleLE(texts + (12 + 6) * 8) * 24;
  const offsets = [2, 10, 18, ...Array.from({ length: 15 }, (_, i) => rest + i * 8)];
  for (const at of offsets)
    for (const number of wrong) {
      const held = Buffer.from(original);
      held.writeDoubleLE(number, at);
      await redis.set(ledger, held);
      calls.refusals.length = 0;
      const [client] = calls.clients(redis, 'all');
      const error = await new Promise<Error | null>((resolve) => client.decide([1, 1], resolve));
      assert.instance(error, StoreError, `${number} at ${at}`);
      assert.match(error!.message, `the key ${ledger} holds no ledger of version 21`);
      assert.ok(held.equals((await redis.getBuffer(ledger))!));
    }
});

/** One limit of each kind, and the place of its three numbers in the ledger. Their checksum follows. */
const ofEachKind = [
  [sliding, 66],
  [{ kind: 'fixedWindow', permits: 9, interval: 60_000, align: 'first' }, 65],
  [{ kind: 'tokenBucket', permits: 9, interval: 60_000, burst: 9 }, 66],
] as const;

for (const [limit, numbers] of ofEachKind)
  test(`a limit that differs from its text, and a text from the limit, are refused: ${limit.kind}`, async ({
    redis,
  }) => {
    const ofOne = ledgerOf(redis, { '': limitOf(limit) });
    await ofOne.decide([1]);
    const original = (await redis.getBuffer(ledger))!;
    const text = numbers + 4 * 7;
    assert.match(original.toString('latin1', text), /^[sft]\d+,\d+,\d+]$/);
    for (let at = numbers; at < original.length; at++) {
      const held = Buffer.from(original);
      held[at] ^= 1;
      await redis.set(ledger, held);
      // The fast path compares the text with that of its limit, and the slow path with the numbers.
      const error = await rejection(at < text ? ofOne.peek() : ofOne.decide([1]));
      assert.match(error.message, `the key ${ledger} holds no ledger of version 21: found`);
      assert.ok(held.equals((await redis.getBuffer(ledger))!));
    }
  });

for (const [limit, numbers] of ofEachKind)
  test(`no path grants by numbers that differ from the limit's text: ${limit.kind}`, async ({ redis }) => {
    const ofOne = ledgerOf(redis, { '': limitOf(limit) });
    await ofOne.decide([1]);
    const original = (await redis.getBuffer(ledger))!;
    for (let at = numbers; at < numbers + 4 * 7; at++) {
      const held = Buffer.from(original);
      held[at] ^= 64;
      await redis.set(ledger, held);
      for (const call of [() => ofOne.decide([1]), () => ofOne.reserve([1])])
        assert.match(
          (await rejection(call())).message,
          `the key ${ledger} holds no ledger of version 21: found`,
        );
      assert.ok(held.equals((await redis.getBuffer(ledger))!));
    }
  });

test('numbers of several limits that differ from their text are refused', async ({ redis }) => {
  const ofTwo = ledgerOf(redis, { a: limitOf(sliding), b: limitOf(ofEachKind[2][0]) });
  const ofOther = ledgerOf(redis, { b: limitOf(ofEachKind[2][0]), a: limitOf(sliding) });
  await ofTwo.decide([1, 1]);
  const original = (await redis.getBuffer(ledger))!;
  const states = 30 + 4 + original.readUInt32LE(30) + 4 + 2;
  for (const at of [0, 8, 16, 96, 104, 112].map((offset) => states + offset)) {
    const held = Buffer.from(original);
    held.writeDoubleLE(original.readDoubleLE(at) * 2, at);
    await redis.set(ledger, held);
    for (const call of [() => ofTwo.decide([1, 1]), () => ofOther.decide([1, 1])])
      assert.match((await rejection(call())).message, 'found limits that differ from their states');
    assert.ok(held.equals((await redis.getBuffer(ledger))!));
  }
});

test('the fast path does not grant from an invalid level of a bucket', async ({ redis }) => {
  const ofOne = ledgerOf(redis, { '': limitOf(ofEachKind[2][0]) });
  await ofOne.decide([1]);
  const original = (await redis.getBuffer(ledger))!;
  for (const number of [NaN, Infinity, -Infinity, 1e300]) {
    const held = Buffer.from(original);
    held.writeDoubleLE(number, 33);
    await redis.set(ledger, held);
    const error = await rejection(ofOne.decide([1]));
    assert.match(error.message, `the key ${ledger} holds no ledger of version 21`);
    assert.ok(held.equals((await redis.getBuffer(ledger))!));
  }
});

for (const [limit] of ofEachKind)
  test(`a ledger that was cut short is refused by the fast and the slow path: ${limit.kind}`, async ({
    redis,
  }) => {
    const ofOne = ledgerOf(redis, { '': limitOf(limit) });
    // A window's log has an entry for each millisecond.
    for (let i = 0; i < 3; i++) {
      await ofOne.decide([1]);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const original = (await redis.getBuffer(ledger))!;
    for (let length = 1; length < original.length; length++) {
      await redis.set(ledger, original.subarray(0, length));
      const error = await rejection(ofOne.decide([1]));
      assert.instance(error, StoreError);
      assert.match(error.message, `the key ${ledger} holds no ledger`);
    }
  });

test('a value that is not a string or not a ledger is refused', async ({ redis }) => {
  const ofOne = ledgerOf(redis, { '': limitOf(sliding) });
  const refused = (key: string) =>
    ofOne.decide([1]).then(
      () => assert.unreachable(key),
      (error) => {
        assert.instance(error, StoreError);
        assert.match(error.message, `the key ${key} holds no `);
      },
    );
  await redis.rpush(ledger, 'a list');
  await refused(ledger);
  await redis.del(ledger);
  for (const held of ['x', 'x'.repeat(60)]) {
    await redis.set(control, held);
    await refused(control);
  }
  await redis.del(control);
  await redis.rpush(control, 'a list');
  await refused(control);
});

test('limits in the text of a ledger that differ from their states are refused', async ({ redis }) => {
  const ofTwo = ledgerOf(redis, { a: limitOf(sliding), b: limitOf(sliding) });
  await ofTwo.decide([1, 1]);
  const original = (await redis.getBuffer(ledger))!;
  // After kind, version, three numbers and the slack: the length of the text, and the text.
  const begin = 2 + 3 * 8 + 4;
  const end = begin + 4 + original.readUInt32LE(begin);
  const limits: unknown[][] = JSON.parse(original.toString('utf8', begin + 4, end));
  assert.equal(limits[0].slice(0, 2), ['a', 's']);
  for (let field = 0; field < 5; field++) {
    const changed = structuredClone(limits);
    changed[0][field] = field < 2 ? 7 : 'seven';
    const text = Buffer.from(JSON.stringify(changed));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    const parts = [original.subarray(0, begin), length, text, original.subarray(end)];
    await redis.set(ledger, Buffer.concat(parts));
    const error = await rejection(ofTwo.decide([1, 1]));
    assert.instance(error, StoreError, `field ${field}`);
    assert.match(error.message, 'limits that differ from their states');
  }
});

test('a ledger with more entries than it holds itself is refused, without the place in the script', async ({
  redis,
}) => {
  const ofOne = ledgerOf(redis, { '': limitOf(sliding) });
  await ofOne.decide([1]);
  const held = (await redis.getBuffer(ledger))!;
  // The number of entries.
  held[59] = 9;
  await redis.set(ledger, held);
  const { message } = await rejection(ofOne.decide([1]));
  assert.match(message, `the key ${ledger} holds no ledger of version 21: found an invalid log; reset()`);
});

test('a ledger with more changes or refunded reservations than are kept is refused', async ({ redis }) => {
  const limit = slidingWindow({ permits: 1, interval: 60_000, resolution: 1 });
  const own = ledgerOf(redis, { '': limit }, { clientId: 'one' });
  await own.reserve([1], { count: 2, maxWait: Infinity });
  const original = (await redis.getBuffer(ledger))!;
  // The numbers of both are before that of tickets and the length of the client's name. A frontier follows the name.
  const counts = original.length - 8 - 3 - 4 - 24;
  for (const [offset, most, numbers] of [
    [0, 8, 2],
    [8, 32, 3],
  ])
    for (const count of [most, most + 1]) {
      const held = Buffer.concat([original, Buffer.alloc(8 * numbers * count)]);
      held.writeDoubleLE(count, counts + offset);
      await redis.set(ledger, held);
      const refused = await own.peek().then(
        () => false,
        (error) => error instanceof StoreError,
      );
      assert.is(refused, count > most, `${count} at ${offset}`);
    }
});

test('a ticket with a moment or a sum below zero is refused', async ({ redis }) => {
  const limit = slidingWindow({ permits: 1, interval: 60_000, resolution: 1 });
  const own = ledgerOf(redis, { '': limit }, { clientId: 'one' });
  await own.reserve([1], { count: 2, maxWait: Infinity });
  const original = (await redis.getBuffer(ledger))!;
  // Its turn, when it is forgotten, the load of its next request, which may be below zero, and what it has taken.
  for (const [invalid, refused] of [
    [undefined, false],
    [0, true],
    [1, true],
    [2, false],
    [3, true],
  ] as const) {
    const ticket = Buffer.alloc(4 * 8 + 4 + 3);
    for (let i = 0; i < 4; i++) ticket.writeDoubleLE(i === invalid ? -1 : 1000, 8 * i);
    ticket.writeUInt32LE(3, 32);
    ticket.write('two', 36);
    const end = original.length - 8;
    const held = Buffer.concat([original.subarray(0, end), ticket, original.subarray(end)]);
    // The number of tickets is before the length of the client's name. A frontier follows the name.
    held.writeDoubleLE(1, end - 3 - 4 - 8);
    await redis.set(ledger, held);
    const error = await own.peek().then(
      () => undefined,
      (error) => error,
    );
    assert.is(error instanceof StoreError, refused, `${invalid}: ${error}`);
  }
});

test('an invalid number anywhere in a control is refused', async ({ redis }) => {
  const calls = await lively(redis, 1);
  const [client] = calls.clients(redis, 'all');
  await new Promise((resolve) => client.pause(50_000, resolve));
  const original = (await redis.getBuffer(control))!;
  for (let at = 0; at < 6 * 8; at += 8)
    for (const number of wrong) {
      const held = Buffer.from(original);
      held.writeDoubleLE(number, at);
      await redis.set(control, held);
      const error = await new Promise<Error | null>((resolve) => client.decide([1, 1], resolve));
      assert.instance(error, StoreError, `${number} at ${at}`);
      assert.match(error!.message, `the key ${control} holds no control of version 2`);
    }
});

test('a pause whose microseconds do not fit into a reply is refused', async ({ redis }) => {
  const ofTwo = ledgerOf(redis, { a: limitOf(sliding), b: limitOf(sliding) });
  const calls = await lively(redis, 1);
  const [client] = calls.clients(redis, 'all');
  await new Promise((resolve) => client.pause(50_000, resolve));
  const paused = (await redis.getBuffer(control))!;
  paused.writeDoubleLE(2 ** 54, 16);
  await redis.set(control, paused);
  assert.match((await rejection(ofTwo.decide([1, 1]))).message, `the key ${control} holds no control`);
  assert.ok(paused.equals((await redis.getBuffer(control))!));
});

for (const key of [ledger, control])
  test(`${key} is refused if it is truncated or too long`, async ({ redis }) => {
    const calls = await lively(redis, 1);
    const [client] = calls.clients(redis, 'all');
    await new Promise((resolve) => client.pause(50_000, resolve));
    const original = (await redis.getBuffer(key))!;
    const lengths = Array.from({ length: original.length - 1 }, (_, i) => i + 1);
    for (const held of [
      ...lengths.map((n) => original.subarray(0, n)),
      Buffer.concat([original, Buffer.from('x')]),
    ]) {
      await redis.set(key, held);
      const error = await new Promise<Error | null>((resolve) => client.peek(resolve));
      assert.instance(error, StoreError, `${held.length} bytes`);
      assert.match(error!.message, `the key ${key} holds no `);
    }
  });

test('changed bytes cause no lasting damage', async (context) => {
  const { redis } = context;
  const seeds = runsOf(300);
  for (let seed = 1; seed <= seeds; seed++) {
    const calls = await lively(redis, seed, seed % 3 === 0);
    for (const key of [ledger, control]) {
      const held = await redis.getBuffer(key);
      if (!held) continue;
      for (let i = 0; i <= seed % 4; i++)
        held[(seed * 7919 + i * 104_729) % held.length] = (seed * 31 + i * 97) % 256;
      await redis.set(key, held);
    }
    await survives(context, calls);
  }
});

test('a call removes 128 expired contenders at most', async ({ redis }) => {
  const slow = { '': slidingWindow({ permits: 1, interval: 60_000, resolution: 1 }) };
  const clients = ['one', 'two', 'three'].map((clientId) => ledgerOf(redis, slow, { clientId }));
  for (const client of clients) await client.reserve([1], { count: 2, maxWait: Infinity });
  const live = await redis.zcard(contenders);
  const expired = Array.from({ length: 200 }, (_, i) => [1, `expired ${i}`]);
  await redis.zadd(contenders, ...expired.flat());
  for (const left of [72, 0]) {
    await clients[0].reserve([1], { maxWait: Infinity });
    assert.is(await redis.zcard(contenders), live + left);
  }
});

test('a hundred thousand contenders, expired or not, delay no call', async (context) => {
  const { redis } = context;
  for (const [score, thousands] of [
    ['1', 100],
    ['1000000900000', 5],
    ['inf', 5],
  ] as const) {
    const calls = await lively(redis, 3);
    const request = { runs: [{ count: 2, cost: [80, 1], maxWait: Infinity }], horizon: 1, held: 0, epoch: 0 };
    const clients = calls.clients(redis, 'all');
    for (const client of clients) await new Promise((resolve) => client.reserve(request, resolve));
    assert.is(await redis.zcard(contenders), 2);
    const add = `for i = 1, tonumber(ARGV[2]) do local t = {} for j = 1, 1000 do t[2 * j - 1] = ARGV[1]; t[2 * j] = i .. ' ' .. j end
      redis.call('ZADD', KEYS[1], unpack(t)) end`;
    await redis.eval(add, 1, contenders, score, thousands);
    await survives(context, calls, 60);
  }
});

test('an invalid log, or one longer or shorter than the ledger says, delays no call', async (context) => {
  const { redis } = context;
  const double = (...numbers: number[]) => Buffer.from(Float64Array.from(numbers).buffer);
  const changes: (() => Promise<unknown>)[] = [
    () => redis.del(log),
    () => redis.ltrim(log, 1, -1),
    () => redis.ltrim(log, 0, -2),
    () => redis.rpush(log, ...Array.from({ length: 5000 }, () => double(1e12, 0))),
    () => redis.lpush(log, ...Array.from({ length: 5000 }, () => double(1e12, 0))),
    ...wrong.flatMap((number) => [
      () => redis.lset(log, 0, double(number, 1)),
      () => redis.lset(log, 0, double(1e12, number)),
    ]),
  ];
  for (const change of changes)
    for (const seed of [3, 4]) {
      const calls = await lively(redis, seed);
      if (await redis.exists(log)) await change();
      await survives(context, calls, 60);
    }
});

test.run();
