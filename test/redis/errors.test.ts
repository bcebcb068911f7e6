import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { StoreError, StoreUnavailableError, slidingWindow } from '../../src/index.ts';
import { mostRefundCalls } from '../../src/stores/redis/redisLedger.ts';
import { filesIn } from '../../tools/lua.mjs';
import { withOptions } from '../support/anyClient.ts';
import { ledgerOf, operations, type PromiseLedger, refundsOf } from './ledgers.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('errors');
const limit = slidingWindow({ permits: 3, interval: 60_000, resolution: 1 });
const lua = fileURLToPath(new URL('../../lua', import.meta.url));

/** The error of a call: a StoreError with the name of the limiter and the error of Redis as its cause. */
async function refused(call: Promise<unknown>, what: RegExp): Promise<StoreError> {
  const error = await call.then(
    () => assert.unreachable('the call was not refused'),
    (reason) => reason,
  );
  assert.instance(error, StoreError);
  assert.is(error.code, 'ERR_SLUICE_STORE');
  assert.match(error.message, '"n"');
  assert.not.match(error.message, /script: |user_script/);
  assert.instance(error.cause, Error);
  assert.match((error.cause as Error).message, what);
  return error;
}

/** Stores a value of another type at a key. */
const others: [string, (redis: Redis, key: string) => Promise<unknown>, RegExp][] = [
  ['a list', (redis, key) => redis.lpush(key, 'x'), /another type/],
  ['a hash', (redis, key) => redis.hset(key, 'a', 1), /another type/],
  ['a set', (redis, key) => redis.sadd(key, 'a'), /another type/],
  ['garbage', (redis, key) => redis.set(key, 'x'), /ledger/],
  ['a long text', (redis, key) => redis.set(key, Buffer.alloc(1000)), /ledger/],
];

for (const [title, put, what] of others)
  for (const [operation, call] of operations)
    test(`${operation} reports that the ledger's key holds ${title}, and does not change it`, async ({
      redis,
    }) => {
      await put(redis, '{p:n}');
      const before = await redis.dumpBuffer('{p:n}');
      const error = await refused(call(ledgerOf(redis, { '': limit })), what);
      assert.match(error.message, 'the key {p:n} holds no ledger of version 21');
      assert.ok(before!.equals((await redis.dumpBuffer('{p:n}'))!));
    });

for (const [title, put] of others.slice(0, 4))
  test(`refund reports that the key of its sequence holds ${title}`, async ({ redis }) => {
    const ledger = ledgerOf(redis, { '': limit });
    const reply = await ledger.reserve([1]);
    await ledger.refund(refundsOf(reply, [1]), 1);
    const [key] = await redis.keys('*:sequence:*');
    await redis.del(key);
    await put(redis, key);
    const error = await refused(ledger.refund(refundsOf(reply, [1]), 1 + mostRefundCalls), /sequence/);
    assert.match(error.message, `the key ${key} holds no sequence of refunds`);
  });

test('no error of a script names its place in the script', () => {
  const lines = filesIn(lua).flatMap((file) => readFileSync(file, 'utf8').split('\n'));
  const raising = lines.filter((line) => /\berror\(/.test(line));
  assert.ok(raising.length > 20);
  for (const line of raising) assert.match(line, /\berror\(.*, 0\)/);
});

test('a log of another type is refused while it is needed, and no limit is exceeded', async ({ redis }) => {
  for (const put of [
    () => redis.set('{p:n}:log:', 'x'),
    () => redis.hset('{p:n}:log:', 'a', 1),
    () => redis.rpush('{p:n}:log:', 'x', 'y'),
  ]) {
    await redis.flushall();
    // More entries than the ledger's string contains.
    const ledger = ledgerOf(redis, { '': slidingWindow({ permits: 12, interval: 60_000, resolution: 1 }) });
    for (let i = 0; i < 12; i++) {
      await ledger.reserve([1]);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await redis.del('{p:n}:log:');
    await put();
    const message =
      /the key {p:n}:log: holds no log: found (a value of another type|an entry of another length); reset\(\) deletes it/;
    await refused(ledger.reserve([1], { maxWait: Infinity }), message);
    await refused(ledger.decide([1]), message);
  }
});

test('contenders of another type are refused', async ({ redis }) => {
  const clients = ['a', 'b'].map((clientId) => ledgerOf(redis, { '': limit }, { clientId }));
  for (const ledger of clients) await ledger.reserve([3], { count: 2, maxWait: Infinity });
  await redis.set('{p:n}:contenders', 'x');
  const message =
    /the key {p:n}:contenders holds no contenders: found a value of another type; reset\(\) deletes it/;
  await refused(clients[0].reserve([1], { maxWait: Infinity }), message);
  await refused(clients[0].decide([1]), message);
});

for (const missing of ['-eval -evalsha', '-set', '-getrange', '~other:*'])
  test(`the error for a user without permission (${missing}) reports the permission`, async ({
    server,
    connect,
  }) => {
    const keys = missing.startsWith('~') ? [missing] : ['~*', ...missing.split(' ')];
    await server.command('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '+@all', ...keys);
    const redis = connect({ username: 'limited', password: 'secret' });
    for (const [, call] of operations)
      await refused(call(ledgerOf(redis, { '': limit })), /NOPERM|ACL|permission|can't (run|access)/);
  });

const givesUp = { maxRetriesPerRequest: 1 };

const nonsense = [
  null,
  undefined,
  '',
  'OK',
  {},
  [],
  [[]],
  1.5,
  NaN,
  '1.5',
  ['x'],
  [null, null, null],
  [1, 2, 'x', 4],
];
/** The start of a reply to reserve: the time, the epoch, the contenders, no pause, and no void reservations. */
const head = [1, 1, 1, -1, -1, -1, -1];
const malformed: [string, (ledger: PromiseLedger) => Promise<unknown>, unknown[]][] = [
  // Segments for fewer or more requests than there were, or one segment for two runs.
  ['reserve', (ledger) => ledger.reserve([1], { count: 2 }), [head, [...head, 1, 0], [...head, 3, 0]]],
  [
    'reserve',
    (ledger) => ledger.reserve([1]),
    [[...head, 0, 0], [...head, -1, 0], [...head, 1, 0, 1, 0], [...head, 1], head.slice(1)],
  ],
  ['decide', (ledger) => ledger.decide([1]), [0, -1, 2 ** 33, 2 ** 50 + 1, [1, 0, 0], [1, 0, 0, 5, 5]]],
  ['peek', (ledger) => ledger.peek(), [-1, [1, 2]]],
];

for (const [operation, call, answers] of malformed)
  test(`an invalid reply to ${operation} is refused`, async () => {
    for (const answer of [...nonsense, ...answers]) {
      const redis = {
        defineCommand: (name: string) => Object.assign(redis, { [name]: async () => answer }),
      };
      await refused(call(ledgerOf(redis as unknown as Redis, { '': limit })), /malformed/);
    }
  });

withOptions(test, givesUp)('a missing server is reported as unavailable', async ({ server, connect }) => {
  const redis = connect({ ...givesUp, retryStrategy: () => 5 });
  await redis.ping();
  const ledger = ledgerOf(redis, { '': limit });
  await server.kill();
  const error = await ledger.peek().catch((reason) => reason);
  assert.instance(error, StoreUnavailableError);
  assert.instance(error.cause, Error);
  await server.start();
});

test('a server that refuses writes for now is unavailable, and was reached', async ({
  redis,
  server,
  afterwards,
}) => {
  afterwards(() => server.command('CONFIG', 'SET', 'min-replicas-to-write', '0'));
  await server.command('CONFIG', 'SET', 'min-replicas-to-write', '1');
  const error = await ledgerOf(redis, { '': limit })
    .reserve([1])
    .catch((reason) => reason);
  assert.instance(error, StoreUnavailableError);
  assert.is(error.code, 'ERR_SLUICE_UNAVAILABLE');
  assert.match(
    error.message,
    /^limiter "n": Redis refuses calls for now: NOREPLICAS [\w ]+; check the server, or use a fallback$/,
  );
  assert.match(error.cause.message, 'NOREPLICAS');
});

test('a flush of all scripts has no visible effect', async ({ redis, server }) => {
  const ledger = ledgerOf(redis, { '': slidingWindow({ permits: 100, interval: 60_000 }) });
  let granted = 0;
  for (let i = 0; i < 10; i++) {
    for (const [, call] of operations) await call(ledger);
    granted += 2;
    await server.command('SCRIPT', 'FLUSH');
    const replies = await Promise.all([1, 2, 3].map(() => ledger.reserve([1])));
    granted += replies.length;
    await server.command('SCRIPT', 'FLUSH');
  }
  assert.equal(await ledger.peek(), [100 - granted]);
});

test.run();
