import { createRequire } from 'node:module';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/index.ts';
import { KeySpace } from '../../src/stores/redis/keys.ts';
import { KeyWords } from '../../src/stores/redis/words.ts';
import { ledgerOf, refundsOf } from './ledgers.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('keys');

/** The slot of a key, as ioredis computes it: its module has no types. */
const slotOf: (key: Buffer) => number = createRequire(import.meta.url)('cluster-key-slot');

const weird = [
  ...[
    'a',
    'a:b',
    'b:c',
    ':',
    '::',
    '{',
    '}',
    '{}',
    '}{',
    '}x',
    '{x}',
    'x}',
    'a}:log:b',
    '%',
    '%7d',
    '%25',
    '%3a',
  ],
  ...[
    ' ',
    '\n',
    '\r\n',
    '\0',
    '*',
    '[a]',
    '"',
    "'",
    '\\',
    'é',
    '漢字',
    '🚰',
    '\ud83d',
    '\ud83e',
    '\udeb0',
    '\ufffd',
  ],
  ...['__proto__', 'constructor', 'contenders', 'log', 'sequence', 'toString'],
];

/** The keys of a limiter, or of one client of it. */
function keysOf(prefix: string, name: string, limits: readonly string[], client?: string) {
  const space = new KeySpace(prefix, name, limits, client);
  const wordsOf = (suffixes: readonly string[]) => new KeyWords(space.tagOf(undefined), suffixes).words;
  const [ledger, contenders, , ...logs] = wordsOf(space.shared);
  return { ledger, contenders, logs, sequence: (line: string) => wordsOf(space.refunds(line))[1] };
}

/** The keys on the server. */
function bytesOf(prefix: string, name: string, limits: readonly string[] = ['', 'a']): string[] {
  const keys = keysOf(prefix, name, limits);
  return [keys.ledger, keys.contenders, ...keys.logs, keys.sequence('x')].map((key) =>
    Buffer.from(key).toString('latin1'),
  );
}

function assertTogether(keys: readonly string[], tag: string): void {
  for (const key of keys) {
    assert.ok(key.startsWith(tag), `${key} does not begin with ${tag}`);
    assert.ok(key.indexOf('}') === tag.length - 1 && tag.length > 2, `${tag} is no hash tag of ${key}`);
    assert.is(slotOf(Buffer.from(key, 'latin1')), slotOf(Buffer.from(tag, 'latin1')), key);
  }
}

test('all keys of a limiter begin with {prefix:name} and are in one slot', () => {
  assert.is(keysOf('sluice', 'stripe', ['']).ledger, '{sluice:stripe}');
  for (const prefix of ['', 'sluice', ...weird])
    for (const name of weird) {
      const keys = bytesOf(prefix, name, weird);
      assert.match(keys[0], /^\{[^}]*\}$/);
      assertTogether(keys, keys[0]);
    }
});

test('the keys of a client begin with {prefix:name}:client, and no two are the same', () => {
  const clients = new Set(['', 'a', 'a:log:', 'a:log', 'a:contenders', ...weird]);
  const keys = [...clients].flatMap((client) => {
    const { ledger, contenders, logs, sequence } = keysOf('sluice', 'api', ['', 'b'], client);
    return [ledger, contenders, ...logs, sequence('x')];
  });
  const fleet = keysOf('sluice', 'api', ['', 'b']);
  assertTogether(keys, '{sluice:api}');
  for (const key of keys) assert.ok(key.startsWith('{sluice:api}:client:'), key);
  const all = [...keys, fleet.ledger, fleet.contenders, ...fleet.logs, fleet.sequence('x')];
  assert.is(new Set(all.map((key) => Buffer.from(key).toString('latin1'))).size, all.length);
});

test('no two limiters, and no two keys of one, are the same', () => {
  const seen = new Set<string>();
  for (const prefix of ['', ...weird])
    for (const name of weird)
      for (const key of bytesOf(prefix, name, weird)) {
        assert.not(seen.has(key), `${key} twice`);
        seen.add(key);
      }
});

const anything = fc.oneof(
  fc.constantFrom(...weird),
  fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
  fc.array(fc.constantFrom(...':{}%2357da'), { maxLength: 4 }).map((characters) => characters.join('')),
);

test('two limiters with any different names share no key', () => {
  const limiter = fc.record({ prefix: anything, name: anything.filter((name) => name !== '') });
  fc.assert(
    fc.property(limiter, limiter, (a, b) => {
      fc.pre(a.prefix !== b.prefix || a.name !== b.name);
      const [keys, others] = [a, b].map(({ prefix, name }) => bytesOf(prefix, name));
      assertTogether(keys, keys[0]);
      assert.equal(
        keys.filter((key) => others.includes(key)),
        [],
      );
    }),
    { numRuns: 3000 },
  );
});

test('limiters with any names are independent in Redis', async ({ redis }) => {
  const limit = slidingWindow({ permits: 2, interval: 60_000, resolution: 1 });
  const named = weird.flatMap((name) => [
    { prefix: 'p', name },
    { prefix: name, name: 'n' },
  ]);
  await Promise.all(
    named.map(async ({ prefix, name }) => {
      const ledger = ledgerOf(redis, { '': limit }, { prefix, name, clientId: name });
      assert.equal((await ledger.decide([1])).available, [1], name);
      const taken = await ledger.reserve([1]);
      assert.equal(await ledger.peek(), [0], name);
      await ledger.refund(refundsOf(taken, [1]), 1);
      assert.equal(await ledger.peek(), [1], name);
    }),
  );
});

test('limits with any names are independent, in any order', async ({ redis }) => {
  const limit = slidingWindow({ permits: 1000, interval: 60_000, resolution: 1 });
  const names = [...new Set(weird)];
  const record = (order: readonly string[]) =>
    Object.defineProperties(
      {},
      Object.fromEntries(order.map((name) => [`${name}`, { value: limit, enumerable: true }])),
    );
  const costs = new Map(names.map((name, i) => [name, i + 1]));
  const ledger = ledgerOf(redis, record(names));
  // Twice, in different milliseconds: the older entry is in the list.
  await ledger.reserve(names.map((name) => costs.get(name)!));
  await new Promise((resolve) => setTimeout(resolve, 3));
  await ledger.reserve(names.map((name) => costs.get(name)!));
  const keys = (await redis.keysBuffer('*')).map((key) => key.toString('latin1'));
  assertTogether(keys, '{p:n}');
  assert.is(keys.length, names.length + 1);
  const turned = [...names].reverse();
  const expected = turned.map((name) => 1000 - 2 * costs.get(name)!);
  assert.equal(await ledgerOf(redis, record(turned)).peek(), expected);
});

test('clients whose ids differ only in halves of a character are different contenders', async ({ redis }) => {
  const limit = slidingWindow({ permits: 1, interval: 60_000 });
  const clients = ['\ud83d', '\ud83e', '🚰'];
  await ledgerOf(redis, { '': limit }).decide([1]);
  const counted = clients.map(async (clientId) => {
    const ledger = ledgerOf(redis, { '': limit }, { clientId });
    return (await ledger.reserve([1], { maxWait: Infinity })).contenders;
  });
  assert.equal(await Promise.all(counted), [1, 2, 3]);
});

// A request of a client with reservations takes the slow path.
for (const held of [0, 1])
  test(`the ledger of a single sliding window holds its first nine entries itself: ${held} reserved`, async ({
    redis,
  }) => {
    const limit = slidingWindow({ permits: 100_000, interval: 60_000, resolution: 1 });
    const ledger = ledgerOf(redis, { '': limit });
    let entries = 0;
    // One entry for each millisecond in which there was a grant.
    for (let last = 0; entries < 10; ) {
      const { now } = await ledger.reserve([1], { held });
      if (Math.ceil(now) > last) entries++;
      last = Math.ceil(now);
      assert.is((await redis.keys('*')).length, entries < 10 ? 1 : 2, `${entries} entries`);
    }
  });

test.run();
