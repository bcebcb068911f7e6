import { config, Subject, take, takeUntil } from 'rxjs';
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  type FromThrottledByKeyOptions,
  fromThrottled,
  LimiterClosedError,
  leakyBucket,
  type Permits,
  PermitsExceedLimitError,
  RateLimiterGroup,
  type RateLimiterGroupOptions,
  slidingWindow,
  tokenBucket,
} from '../../src/index.ts';
import { assertIdle, type Marbles, marbles, onePerThree } from '../support/marbles.ts';
import { naturals, watched } from './inputs.ts';

const test = suite('fromThrottled, by key');

type Limits = RateLimiterGroupOptions['limit'];
type Options = Omit<FromThrottledByKeyOptions<Permits, string, string>, 'key'>;

const onePerNine = leakyBucket({ permits: 1, interval: 9 });
const byKey = (name: string) => leakyBucket({ permits: 1, interval: name === 'a' ? 8 : 6 });
const slowA = (name: string) => (name === 'a' ? onePerNine : tokenBucket({ permits: 9, interval: 1 }));
const burst = tokenBucket({ permits: 1, interval: 3, burst: 4 });

/** The key of a value is its letter, in lower case. */
const key = (value: string) => value.toLowerCase();

/** A group named `api` in the time of the test. */
function groupOf({ scheduler }: Marbles, limit: Limits): RateLimiterGroup {
  return new RateLimiterGroup({ name: 'api', limit, scheduler });
}

const cases: [title: string, Limits, Options, input: string, expected: string, error?: Error][] = [
  ['each key has its own rate and order', byKey, {}, 'aAbBaA', '(ab)--B-A 7ms a 7ms (A|)'],
  ['a key that waits for long blocks no other one', slowA, {}, 'aAbcbcd', '(abcbcd)-(A|)'],
  [
    'with a full buffer, a key that waits blocks the others',
    slowA,
    { buffer: 1 },
    'aAbcd',
    'a--------(Abcd|)',
  ],
  ['the values of an input without a wait come at once', slowA, { buffer: 1 }, 'bcd', '(bcd|)'],
  ['an empty input ends at once', byKey, {}, '', '|'],
  ['permits are the same for all values', burst, { permits: 3 }, 'aab', '(ab)--(a|)'],
  ['permits get the value and its index', burst, { permits: (_, i) => i + 1 }, 'abAB', '(abA)-(B|)'],
  [
    'the permit is of the line of its key',
    byKey,
    { project: (v, p) => `${p.waited}${v}`[0] },
    'aAb',
    '(00)----(8|)',
  ],
  [
    'a timeout names the group and the key',
    onePerThree,
    { timeout: 2 },
    'abA',
    '(ab#)',
    new AcquireTimeoutError('api:a', 1, 2, 3),
  ],
  [
    'permits beyond the limit are an error',
    burst,
    { permits: 5 },
    'a',
    '#',
    new PermitsExceedLimitError('api:a', 5, 4),
  ],
];
for (const [title, limit, options, values, expected, error] of cases)
  test(
    title,
    marbles((helpers) => {
      const group = groupOf(helpers, limit);
      const input = watched(values);
      helpers
        .expectObservable(fromThrottled(input, group, { ...options, key }))
        .toBe(expected, undefined, error);
      helpers.flush();
      assert.is(input.returned, error ? 1 : 0);
      for (const name of 'abcd') assertIdle(group.get(name));
    }),
  );

test(
  'nothing is pulled before a subscription, and each subscription iterates anew',
  marbles((helpers) => {
    const input = watched('aAb');
    const result = fromThrottled(input, groupOf(helpers, onePerNine), { key });
    assert.is(input.opened, 0);
    helpers.expectObservable(result).toBe('(ab)-----(A|)');
    helpers.expectObservable(result, '----^').toBe('9ms b 8ms a 8ms (A|)');
    helpers.flush();
    assert.is(input.opened, 2);
  }),
);

test(
  'it is closed once, at once, when its subscription ends; what waits is cancelled and refunded first',
  marbles(async (helpers) => {
    const group = groupOf(helpers, slidingWindow({ permits: 3, interval: 9 }));
    const idle: boolean[] = [];
    const input = watched('aaaaabbbbb');
    const letters = input[Symbol.iterator];
    input[Symbol.iterator] = () => {
      const iterator = letters.call(input);
      const closed = () => {
        idle.push(['a', 'b'].every((name) => group.get(name).line.idle));
        return iterator.return!();
      };
      return { next: iterator.next, return: closed };
    };
    const subscription = fromThrottled(input, group, { key, buffer: 3 }).subscribe();
    assert.equal([input.pulled, input.returned], [9, 0]);
    subscription.unsubscribe();
    subscription.unsubscribe();
    assert.equal([input.pulled, input.returned, idle], [9, 1, [true]]);
    for (const name of 'ab') assertIdle(group.get(name));
    assert.is(await group.get('b').availablePermits(), 0);
  }),
);

test(
  'a consumer that unsubscribes while it receives a value closes it, and no further value is pulled or charged',
  marbles(async (helpers) => {
    const group = groupOf(helpers, burst);
    const input = watched(naturals());
    const got: number[] = [];
    fromThrottled(input, group, { key: String })
      .pipe(take(3))
      .subscribe((n) => got.push(n));
    assert.equal([got, input.pulled, input.returned], [[0, 1, 2], 3, 1]);
    assert.is(await group.get('3').availablePermits(), 4);
  }),
);

test(
  'a subscriber that unsubscribes while the input is opened closes it, and nothing is pulled',
  marbles((helpers) => {
    const leave = new Subject<void>();
    const input = watched('abc');
    const opened: Iterable<string> = {
      [Symbol.iterator]() {
        leave.next();
        return input[Symbol.iterator]();
      },
    };
    fromThrottled(opened, groupOf(helpers, burst), { key }).pipe(takeUntil(leave)).subscribe();
    assert.equal([input.opened, input.pulled, input.returned], [1, 0, 1]);
  }),
);

const broken = new Error('broken');
const refuse = () => {
  throw broken;
};
/** A function of a value: calls `work` for the value `x`, and `other` for all others. */
const onlyX =
  <T>(work: () => T, other: (value: string) => T) =>
  (value: string) =>
    value === 'x' ? work() : other(value);

const failures: [what: string, options: object, limit: Limits, error: Error][] = [
  ['a key that throws', { key: onlyX(refuse, key) }, onePerThree, broken],
  [
    'a key that is no string',
    { key: onlyX(() => 5 as unknown as string, key) },
    onePerThree,
    new TypeError('key: expected a string, got 5'),
  ],
  ['permits that throw', { permits: onlyX(refuse, () => 1) }, onePerThree, broken],
  [
    'permits that are invalid',
    {
      permits: onlyX(
        () => 0,
        () => 1,
      ),
    },
    onePerThree,
    new RangeError('permits: expected a positive safe integer, got 0'),
  ],
  ['a limit that throws', {}, onlyX(refuse as () => typeof onePerThree, () => onePerThree), broken],
  ['a project that throws', { project: onlyX(refuse, (value) => value) }, onePerThree, broken],
];
for (const [what, options, limit, error] of failures)
  test(
    `${what} is an error of the stream, which closes the input and refunds the waiting values`,
    marbles(async (helpers) => {
      const group = groupOf(helpers, limit);
      const input = watched('aAxb');
      const result = fromThrottled(input, group, { key, ...options });
      helpers.expectObservable(result).toBe('(a#)', undefined, error);
      helpers.flush();
      assert.equal([input.pulled, input.returned], [3, 1]);
      for (const name of 'ab') assertIdle(group.get(name));
      if ('project' in options) assert.is(await group.get('x').availablePermits(), 1);
    }),
  );

test(
  'a project that unsubscribes emits nothing, and its permit is refunded',
  marbles(async (helpers) => {
    const group = groupOf(helpers, burst);
    const input = watched('abc');
    const leave = new Subject<void>();
    const got: string[] = [];
    const inVain = sinon.fake();
    config.onStoppedNotification = inVain;
    const project = (value: string) => {
      leave.next();
      return value;
    };
    try {
      fromThrottled(input, group, { key, project })
        .pipe(takeUntil(leave))
        .subscribe((value) => got.push(value));
      helpers.flush();
    } finally {
      config.onStoppedNotification = null;
    }
    assert.equal([got, input.pulled, input.returned, inVain.callCount], [[], 1, 1, 0]);
    assert.is(await group.get('a').availablePermits(), 4);
  }),
);

for (const at of ['while it is opened', 'at its first value', 'while values wait'] as const)
  test(
    `an error of the input ${at} passes at once, and refunds what waits`,
    marbles((helpers) => {
      const group = groupOf(helpers, onePerNine);
      const input: Iterable<string> = {
        [Symbol.iterator]() {
          if (at === 'while it is opened') throw broken;
          const values = at === 'while values wait' ? ['a', 'A', 'A'] : [];
          return {
            next() {
              const value = values.shift();
              if (!value) throw broken;
              return { value };
            },
            return(): never {
              throw new Error('an input that has failed is closed');
            },
          };
        },
      };
      const result = fromThrottled(input, group, { key });
      helpers.expectObservable(result).toBe(at === 'while values wait' ? '(a#)' : '#', undefined, broken);
      helpers.flush();
      assertIdle(group.get('a'));
    }),
  );

test(
  'a group that is closed ends the stream, and closes the input',
  marbles((helpers) => {
    const group = groupOf(helpers, onePerNine);
    const input = watched('aAAA');
    helpers.at(3, () => void group.close());
    const result = fromThrottled(input, group, { key, buffer: 2 });
    helpers.expectObservable(result).toBe('a--#', undefined, new LimiterClosedError('api:a'));
    helpers.flush();
    assert.equal([input.pulled, input.returned], [3, 1]);
  }),
);

test(
  'a refund by the consumer lets other values come within its emission, and the bound holds',
  marbles((helpers) => {
    const group = groupOf(helpers, slidingWindow({ permits: 1, interval: 1_000 }));
    const input = watched(naturals());
    const got: number[] = [];
    let held = 0;
    const options = {
      key: (n: number) => (n % 2 ? 'odd' : 'even'),
      buffer: 4,
      permits() {
        held = Math.max(held, input.pulled - got.length);
        // In the middle of adding a value, others are granted.
        if (got.length < 100) for (const name of ['odd', 'even']) void group.get(name).release(1);
        return 1;
      },
    };
    const subscription = fromThrottled(input, group, options).subscribe((n) => {
      got.push(n);
      if (got.length < 100) void group.get(n % 2 ? 'even' : 'odd').release(1);
    });
    helpers.at(1, () => subscription.unsubscribe());
    helpers.flush();
    assert.ok(got.length >= 100, `${got.length} values`);
    assert.is(held, 4);
    assert.is(input.pulled, got.length + 4);
  }),
);

test.run();
