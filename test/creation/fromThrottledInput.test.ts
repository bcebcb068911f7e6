import { of } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FromThrottledOptions, fromThrottled, RateLimiter } from '../../src/index.ts';
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
  test(`it is not made: ${message}`, () => {
    const make = () => fromThrottled(input as string, limiter);
    assert.throws(make, (error: Error) => error.constructor === TypeError && error.message === message);
  });
}

/** Invalid values of `permits`, and options of `acquire` that do not exist here. */
const wrongOptions = wrongAcquire
  .filter(([, options]) => !(options && typeof options === 'object' && 'signal' in options))
  .map(([permits, options, type, message]) => {
    if (options === undefined) return [{ permits }, type, message] as const;
    return [options, type, message.replace('timeout, signal', 'permits, timeout, project, maxAge')] as const;
  });
for (const [options, type, message] of [
  ...wrongOptions,
  [{ permits: () => 1 }, TypeError, 'permits: expected a positive safe integer, got a function'] as const,
  [
    { signal: undefined },
    TypeError,
    'signal: no such option; expected one of permits, timeout, project, maxAge',
  ] as const,
  [{ maxAge: -1 }, RangeError, 'maxAge: expected milliseconds, 0 or more, got -1'] as const,
  [{ maxAge: '5' }, TypeError, 'maxAge: expected milliseconds, 0 or more, got "5"'] as const,
  [{ project: 5 }, TypeError, 'project: expected a function, got 5'] as const,
]) {
  test(`it is not made: ${message}`, () => {
    const make = () => fromThrottled('a', limiter, options as FromThrottledOptions);
    assert.throws(make, (error: Error) => error.constructor === type && error.message === message);
  });
}

test('it needs a limiter', () => {
  const make = () => fromThrottled('a', null as unknown as RateLimiter);
  assert.throws(make, /^limiter: expected a RateLimiter, got null$/);
});

test.run();
