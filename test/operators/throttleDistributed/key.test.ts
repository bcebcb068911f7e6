import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Subject } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  LimiterClosedError,
  leakyBucket,
  QueueOverflowError,
  RateLimitExceededError,
  RateLimiter,
  RateLimiterGroup,
  type RateLimiterGroupOptions,
  slidingWindow,
  type ThrottleDistributedByKeyOptions,
  throttleDistributed,
  tokenBucket,
} from '../../../src/index.ts';
import { room } from '../../../src/limiter/keyedLimiters.ts';
import { assertIdle, type Marbles, marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, by key');

type Limits = RateLimiterGroupOptions['limit'];
type Options = Omit<ThrottleDistributedByKeyOptions<string, unknown, string>, 'key'>;

const onePerNine = leakyBucket({ permits: 1, interval: 9 });
const byKey = (name: string) => leakyBucket({ permits: 1, interval: name === 'a' ? 4 : 3 });
const slowA = (name: string) => (name === 'a' ? onePerNine : tokenBucket({ permits: 9, interval: 1 }));
const burst = tokenBucket({ permits: 1, interval: 2, burst: 4 });

/** The key of a value is its letter, in lower case. */
const key = (value: string) => value.toLowerCase();

/** A group named `api` that uses the time of the test. */
function groupOf({ scheduler }: Marbles, limit: Limits): RateLimiterGroup {
  return new RateLimiterGroup({ name: 'api', limit, scheduler });
}

const cases: [title: string, Limits, Options, source: string, expected: string, error?: Error][] = [
  ['keys are interleaved, each at its own rate and in its own order', byKey, {}, 'aAbBa|', 'a-b-AB--(a|)'],
  ['a key that waits for long blocks no other one', slowA, {}, 'aAbcbcd|', 'a-bcbcd--(A|)'],
  [
    'the function of permits receives the index among all values',
    burst,
    { permits: (_: string, i: number) => i + 1 },
    'abAB|',
    'abA--(B|)',
  ],
  [
    'a permit comes from the limiter of its key',
    byKey,
    { project: (v, p) => `${p.waited}${v}`[0] },
    'aAb|',
    '0-0-(3|)',
  ],
  ['a timeout applies to the queue of its key', onePerThree, { timeout: 1 }, 'abAB|', 'ab-A(B|)'],
  [
    'a timeout names the group and the key',
    onePerThree,
    { timeout: 1 },
    'aA|',
    'a#',
    new AcquireTimeoutError('api:a', 1, 1, 2),
  ],
  ["onTimeout 'drop'", onePerThree, { timeout: 1, onTimeout: 'drop' }, 'aAb|', 'a-b|'],
  ["strategy 'drop'", onePerThree, { strategy: 'drop' }, 'aAbB-A|', 'a-b--A|'],
  [
    "strategy 'error'",
    onePerThree,
    { strategy: 'error' },
    'abA|',
    'ab#',
    new RateLimitExceededError('api:a', 1, 1),
  ],
  [
    'maxQueue counts the values of all keys',
    onePerNine,
    { maxQueue: 2 },
    'abABc|',
    'ab--#',
    new QueueOverflowError('api', 2),
  ],
  [
    "overflow 'dropNewest' keeps the waiting values of all keys",
    onePerNine,
    { maxQueue: 2, overflow: 'dropNewest' },
    'abABc|',
    'ab-------A(B|)',
  ],
  [
    "overflow 'dropOldest' drops the oldest of all keys",
    onePerNine,
    { maxQueue: 2, overflow: 'dropOldest' },
    'abABbc|',
    'ab---c----(b|)',
  ],
];
for (const [title, limit, options, values, expected, error] of cases)
  test(
    title,
    marbles((helpers) => {
      const group = groupOf(helpers, limit);
      const result = helpers.cold(values).pipe(throttleDistributed(group, { ...options, key }));
      helpers.expectObservable(result).toBe(expected, undefined, error);
      helpers.flush();
      for (const name of 'abc') assertIdle(group.get(name));
    }),
  );

test(
  'subscriptions of one group share the queue of each key',
  marbles((helpers) => {
    const group = groupOf(helpers, onePerThree);
    const throttle = throttleDistributed<string, unknown>(group, { key });
    helpers.expectObservable(helpers.cold('ab|').pipe(throttle)).toBe('ab|');
    helpers.expectObservable(helpers.cold('-A-B|').pipe(throttle)).toBe('---A(B|)');
  }),
);

for (const [how, source, unsubscribed, ends] of [
  ['an unsubscription', 'abABAB', '------!', 'ab'],
  ['an error of the source', 'abABAB#', '', 'ab----#'],
] as const)
  test(
    `${how} refunds the reservations of all keys`,
    marbles((helpers) => {
      const group = groupOf(helpers, slidingWindow({ permits: 1, interval: 9 }));
      const throttle = throttleDistributed<string, unknown>(group, { key });
      helpers.expectObservable(helpers.cold(source).pipe(throttle), unsubscribed || undefined).toBe(ends);
      helpers.at(7, () => {
        for (const name of 'ab') assertIdle(group.get(name));
      });
      helpers.expectObservable(helpers.cold('10ms (ab|)').pipe(throttle)).toBe('10ms (ab|)');
    }),
  );

for (const [what, options, error] of [
  [
    'a key that throws',
    {
      key: () => {
        throw new Error('no key');
      },
    },
    new Error('no key'),
  ],
  ['a key that is no string', { key: () => 5 }, new TypeError('key: expected a string, got 5')],
  [
    'permits that are none',
    { permits: () => 0 },
    new RangeError('permits: expected a positive safe integer, got 0'),
  ],
] as const)
  test(
    `${what} is an error of the stream, and waiting values are refunded`,
    marbles((helpers) => {
      const group = groupOf(helpers, onePerThree);
      const bad = (name: keyof typeof options) => (value: string) =>
        value === 'x' ? (options as Record<string, () => never>)[name]() : undefined;
      const result = helpers.cold('aAx|').pipe(
        throttleDistributed(group, {
          key: (value: string) => ('key' in options && bad('key' as never)(value)) || key(value),
          permits: (value: string) => ('permits' in options ? (bad('permits' as never)(value) ?? 1) : 1),
        }),
      );
      helpers.expectObservable(result).toBe('a-#', undefined, error);
      helpers.flush();
      assertIdle(group.get('a'));
    }),
  );

test(
  'an error of the function `limit` is an error of the stream',
  marbles((helpers) => {
    const error = new Error('unknown customer');
    const group = groupOf(helpers, (name) => {
      if (name === 'b') throw error;
      return onePerThree;
    });
    const result = helpers.cold('ab|').pipe(throttleDistributed(group, { key }));
    helpers.expectObservable(result).toBe('a#', undefined, error);
  }),
);

test(
  'a group that is closed ends the stream',
  marbles((helpers) => {
    const group = groupOf(helpers, onePerNine);
    helpers.at(3, () => void group.close());
    const waits = helpers.cold('aA').pipe(throttleDistributed(group, { key }));
    helpers.expectObservable(waits).toBe('a--#', undefined, new LimiterClosedError('api:a'));
    const comes = helpers.cold('a---b').pipe(throttleDistributed(group, { key: () => 'b' }));
    helpers.expectObservable(comes).toBe('a---#', undefined, new LimiterClosedError('api'));
  }),
);

const limiter = new RateLimiter({ name: 'api', limit: onePerThree });
const group = new RateLimiterGroup({ name: 'api', limit: onePerThree });
const number = 'permits: expected a positive safe integer';
const wrong: [what: unknown, options: unknown, type: typeof Error, message: string][] = [
  [group, undefined, TypeError, 'key: expected a function, got undefined'],
  [group, {}, TypeError, 'key: expected a function, got undefined'],
  [group, { key: 'id' }, TypeError, 'key: expected a function, got "id"'],
  [group, { key: null }, TypeError, 'key: expected a function, got null'],
  [group, { key, permits: 0 }, RangeError, `${number}, got 0`],
  [group, { key, permits: 1.5 }, RangeError, `${number}, got 1.5`],
  [group, { key, permits: '1' }, TypeError, `${number}, got "1"`],
  [group, { key, permits: null }, TypeError, `${number}, got null`],
  [group, { key, timeout: -1 }, RangeError, 'timeout: expected milliseconds, 0 or more, got -1'],
  [limiter, { key }, TypeError, 'key: expected no key without a group'],
  [limiter, { key: null }, TypeError, 'key: expected no key without a group'],
  [{ line: {} }, { key }, TypeError, 'limiter: expected a RateLimiter or a RateLimiterGroup, got an object'],
];
for (const [what, options, type, message] of wrong)
  test(`with a ${what === group ? 'group' : 'limiter'}, invalid arguments throw: ${message}`, () => {
    const make = () => throttleDistributed(what as typeof group, options as { key: typeof key });
    assert.throws(make, (error: Error) => error.constructor === type && error.message === message);
  });

test('a key that is undefined counts as left out', () => {
  assert.type(throttleDistributed(limiter, { key: undefined } as object), 'function');
});

/** Bytes in use after a garbage collection. */
function heap(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

test('a key whose values never wait takes little memory: no dispatcher of its own', () => {
  const many = new RateLimiterGroup({ name: 'api', limit: tokenBucket({ permits: 9, interval: 1000 }) });
  const source = new Subject<string>();
  let seen = 0;
  source.pipe(throttleDistributed(many, { key: (name) => name })).subscribe(() => seen++);
  const keys = Array.from({ length: 5_000 }, (_, i) => `key ${i}`);
  const before = heap();
  for (let i = 0; i < 2; i++) for (const name of keys) source.next(name);
  const each = (heap() - before) / keys.length;
  assert.is(seen, 2 * keys.length);
  assert.is(many.size, keys.length);
  assert.ok(each < 2_500, `${each} bytes a key`);
});

test('values that the first value of a key causes come after it, and do not recurse', () => {
  const fresh = new RateLimiterGroup({
    name: 'api',
    limit: tokenBucket({ permits: 99_999, interval: 1000 }),
  });
  const source = new Subject<number>();
  const seen: number[] = [];
  let depth = 0;
  source.pipe(throttleDistributed(fresh, { key: () => 'new' })).subscribe((n) => {
    seen.push(n);
    assert.is(++depth, 1);
    if (n === 0) for (let i = 1; i <= 3; i++) source.next(i);
    else if (n < 9_000) source.next(n + 3);
    depth--;
  });
  source.next(0);
  assert.equal(
    seen,
    Array.from({ length: 9_003 }, (_, i) => i),
  );
});

test('tens of thousands of keys over time leave nothing, while an early one still waits', () => {
  // On a clock of its own: sinon's is too slow. Only the slow one needs a timer.
  let time = 0;
  let timer = () => {};
  const scheduler = {
    now: () => time,
    schedule(work: () => void) {
      timer = work;
      return { unsubscribe: () => {} };
    },
  };
  const day = 86_400_000;
  const limit = (name: string) => leakyBucket({ permits: 1, interval: name === 'slow' ? day : 100 });
  const many = new RateLimiterGroup({ name: 'api', limit, scheduler });
  const source = new Subject<{ name: string }>();
  const seen = { all: 0, slow: 0 };
  const options = { maxQueue: 10, overflow: 'dropOldest' } as const;
  source.pipe(throttleDistributed(many, { ...options, key: ({ name }) => name })).subscribe(({ name }) => {
    seen.all++;
    if (name === 'slow') seen.slow++;
  });
  const slow = many.get('slow');
  for (let i = 0; i < 2; i++) source.next({ name: 'slow' });
  const pass = (from: number, to: number) => {
    for (let i = from; i < to; i++) {
      if (i % 10 === 0) time++;
      source.next({ name: `key ${i}` });
    }
  };
  pass(0, 1.5 * room);
  const before = heap();
  const most = 1.5 * room + 15_000;
  pass(1.5 * room, most);
  const grown = heap() - before;
  assert.ok(grown < 8_000_000, `${grown} bytes more`);
  assert.ok(many.size <= 1.2 * room, `${many.size} limiters`);
  assert.equal(seen, { all: most + 1, slow: 1 });
  assert.is(many.get('slow'), slow);
  time = day;
  timer();
  assert.equal(seen, { all: most + 2, slow: 2 });
});

test.run();
