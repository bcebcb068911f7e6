import { of } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FromThrottledOptions, fromThrottled, RateLimiter, RateLimiterGroup } from '../../src/index.ts';
import { assertRefuses, noPositiveInteger } from '../support/badInput.ts';
import { onePerThree } from '../support/marbles.ts';
import { wrongAcquire } from '../support/wrongAcquire.ts';
import { naturals } from './inputs.ts';

const test = suite('fromThrottled, arguments');
const limiter = new RateLimiter({ name: 'api', limit: onePerThree });

const expected = 'input: expected an iterable, an async iterable or a ReadableStream, got';
const promise = 'a promise: await it, and give what it resolves to';
const wrongInput: [input: unknown, message: string][] = [
  [undefined, `${expected} undefined`],
  [null, `${expected} null`],
  [5, `${expected} 5`],
  [5n, `${expected} 5n (bigint)`],
  [true, `${expected} true`],
  [Symbol('a'), `${expected} a symbol`],
  [{}, `${expected} an object`],
  [{ length: 1, 0: 'a' }, `${expected} an object`],
  [{ [Symbol.iterator]: [] }, `${expected} an object`],
  [Promise.resolve(['a']), `${expected} ${promise}`],
  // biome-ignore lint/suspicious/noThenProperty: any thenable is taken for a promise
  [{ then() {} }, `${expected} ${promise}`],
  [of('a'), `${expected} an Observable: pipe it through throttleDistributed`],
  [naturals, `${expected} a function: call it, and give what it returns`],
  [
    { next: () => ({ done: true, value: undefined }) },
    `${expected} an iterator that is not iterable: give it a method [Symbol.iterator]`,
  ],
];
for (const [input, message] of wrongInput) {
  test(`invalid arguments throw: ${message}`, () => {
    const make = () => fromThrottled(input as string, limiter);
    assert.throws(make, (error: Error) => error.constructor === TypeError && error.message === message);
  });
}

const known = 'permits, timeout, project, maxAge, key, buffer';

/** Invalid values of `permits`, and options of `acquire` that do not exist here. */
const wrongOptions = wrongAcquire
  .filter(([, options]) => !(options && typeof options === 'object' && 'signal' in options))
  .map(([permits, options, type, message]) => {
    if (options === undefined) return [{ permits }, type, message] as const;
    return [options, type, message.replace('timeout, signal', known)] as const;
  });
for (const [options, type, message] of [
  ...wrongOptions,
  [{ permits: () => 1 }, TypeError, 'permits: expected a positive safe integer, got a function'] as const,
  [{ signal: undefined }, TypeError, `signal: no such option; expected one of ${known}`] as const,
  [{ maxAge: -1 }, RangeError, 'maxAge: expected milliseconds, 0 or more, got -1'] as const,
  [{ maxAge: '5' }, TypeError, 'maxAge: expected milliseconds, 0 or more, got "5"'] as const,
  [{ project: 5 }, TypeError, 'project: expected a function, got 5'] as const,
  [{ key: String }, TypeError, 'key: expected no key without a group'] as const,
  [{ buffer: 5 }, TypeError, 'buffer: expected no buffer without a group'] as const,
]) {
  test(`invalid arguments throw: ${message}`, () => {
    const make = () => fromThrottled('a', limiter, options as FromThrottledOptions);
    assert.throws(make, (error: Error) => error.constructor === type && error.message === message);
  });
}

const group = new RateLimiterGroup({ name: 'api', limit: onePerThree });
const key = (value: string) => value;
const ofGroup = (options: object | undefined) => fromThrottled('a', group, options as { key: typeof key });
for (const [options, message] of [
  [undefined, 'key: expected a function, got undefined'],
  [{ key: 'id' }, 'key: expected a function, got "id"'],
  [{ key, permits: '1' }, 'permits: expected a positive safe integer, got "1"'],
  [{ key, timeout: '1' }, 'timeout: expected milliseconds, 0 or more, got "1"'],
  [{ key, maxAge: '5' }, 'maxAge: expected milliseconds, 0 or more, got "5"'],
  [{ key, project: 5 }, 'project: expected a function, got 5'],
  [{ key, strategy: 'drop' }, `strategy: no such option; expected one of ${known}`],
  [[], 'options: expected an object, got an array'],
] as const) {
  test(`with a group, invalid options throw: ${message}`, () => {
    const isExpected = (error: Error) => error.constructor === TypeError && error.message === message;
    assert.throws(() => ofGroup(options), isExpected);
  });
}

test('the buffer is a positive safe integer', async () => {
  const values = noPositiveInteger.filter(([value]) => value !== undefined);
  await assertRefuses((buffer) => ofGroup({ key, buffer }), values, 'buffer', 'a positive safe integer');
  for (const buffer of [undefined, 1, Number.MAX_SAFE_INTEGER]) ofGroup({ key, buffer, maxAge: 5 });
});

test('it needs a limiter or a group', () => {
  const make = () => fromThrottled('a', null as unknown as RateLimiter);
  assert.throws(make, /^limiter: expected a RateLimiter or a RateLimiterGroup, got null$/);
});

test.run();
