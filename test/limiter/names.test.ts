import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });

const odd = [
  '{',
  '}',
  '{a}',
  'a b',
  'a\nb',
  '\r',
  '\0',
  '__proto__',
  'constructor',
  'toString',
  '"',
  '\\',
  ':',
];
const halves = ['\ud800', '\udc00', '\\ud800', '\ufffd', '\ud83d\ude00', 'é', 'e\u0301'];
const spellings = [...odd, ...halves];

/** Any code units, halves of surrogate pairs included. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 4 })
  .map((units) => String.fromCharCode(...units));
const text = fc.oneof(fc.constantFrom(...spellings), anyText);

test('a limiter has its name, and that of a group has its key as well', () => {
  assert.is(new RateLimiter({ name: 'api', limit }).name, 'api');
  assert.is(new RateLimiterGroup({ name: 'api', limit }).get('acme').name, 'api:acme');
});

test('limiters of different names or prefixes share nothing, whatever characters they have', () =>
  fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(text, text), {
        minLength: 2,
        maxLength: 6,
        selector: (pair) => JSON.stringify(pair),
      }),
      async (pairs) => {
        const store = memoryStore();
        const open = ([prefix, name]: [string, string]) => new RateLimiter({ prefix, name, limit, store });
        for (const [i, pair] of pairs.entries()) assert.ok(await open(pair).tryAcquire((i % 5) + 1));
        for (const [i, pair] of pairs.entries())
          assert.is(await open(pair).availablePermits(), 4 - (i % 5), JSON.stringify(pair));
      },
    ),
  ));

test('limiters with unusual names each count their own permits', async () => {
  const store = memoryStore();
  for (const name of spellings) assert.ok(await new RateLimiter({ name, limit, store }).tryAcquire(3));
  for (const name of spellings)
    assert.is(await new RateLimiter({ name, limit, store }).availablePermits(), 2, JSON.stringify(name));
});

/** A record whose names are all own properties, `__proto__` too. */
function recordOf<T>(names: readonly string[], value: (i: number) => T): Record<string, T> {
  return Object.fromEntries(names.map((name, i) => [name, value(i)]));
}

test('limits of a record may have any names, and each is charged separately', async () => {
  const names = [...spellings, '', '0', 'hasOwnProperty'];
  const limiter = new RateLimiter({ name: 'api', limit: recordOf(names, () => limit) });
  for (const [i, name] of names.entries()) {
    const permit = await limiter.acquire(recordOf([name], () => (i % 5) + 1));
    assert.equal(Object.entries(permit.permits), [[name, (i % 5) + 1]]);
  }
  const left = await limiter.availablePermits({ detail: true });
  assert.equal(
    Object.entries(left).sort(),
    names.map((name, i) => [name, 4 - (i % 5)] as [string, number]).sort(),
  );
});

test('the names of inherited members are not names of limits', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: { requests: limit } });
  for (const name of ['constructor', '__proto__', 'toString', ''])
    await limiter.acquire(recordOf(['requests', name], () => 1)).then(
      () => assert.unreachable(name),
      (error) => assert.instance(error, RangeError),
    );
});

test('a limit of a record may be called kind', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: { kind: limit, other: limit } });
  await limiter.acquire({ kind: 2 });
  assert.equal(await limiter.availablePermits({ detail: true }), { kind: 3, other: 5 });
});

test('a record of limits may have no prototype', async () => {
  const record = Object.assign(Object.create(null), { requests: limit });
  const limiter = new RateLimiter({ name: 'api', limit: record });
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 5 });
});

test.run();
