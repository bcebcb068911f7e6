import { catchError, type Observable, throwError } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  RateLimitExceededError,
  SluiceError,
  throttleDistributed,
} from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, strategies and timeouts');

/** For tests in which only the kind of the error counts. */
const nameOfError = catchError<string, Observable<never>>(({ name }) => throwError(() => name));

test(
  "the strategy 'drop' emits a value at once or drops it, and dropped values are not charged",
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('abcd|');
    const expected = '   a--d|';
    const result = source.pipe(throttleDistributed(limiter(onePerThree), { strategy: 'drop' }));
    expectObservable(result).toBe(expected);
  }),
);

test(
  "the strategy 'drop' does not overtake waiting values",
  marbles(({ cold, limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    const waits = cold('  ab--c|');
    const hasty = cold('  ---x--y--z|');
    const expected = '    a--b--(c|)';
    const leftOver = '    ---------z|';
    expectObservable(waits.pipe(throttleDistributed(shared))).toBe(expected);
    expectObservable(hasty.pipe(throttleDistributed(shared, { strategy: 'drop' }))).toBe(leftOver);
  }),
);

test(
  "the strategy 'drop' with a timeout lets a value wait that long",
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('abc|');
    const expected = '   a--(b|)';
    const result = source.pipe(throttleDistributed(limiter(onePerThree), { strategy: 'drop', timeout: 2 }));
    expectObservable(result).toBe(expected);
  }),
);

test(
  "the strategy 'error' raises RateLimitExceededError when a value would have to wait",
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('abc|');
    const result = source.pipe(throttleDistributed(limiter(onePerThree), { strategy: 'error' }));
    expectObservable(result).toBe('a#', undefined, new RateLimitExceededError('api', 1, 2));
    expectSubscriptions(source.subscriptions).toBe('^!');
  }),
);

test(
  "the strategy 'error' with a timeout lets a value wait that long",
  marbles(({ cold, limiter, expectObservable }) => {
    const options = { strategy: 'error', timeout: 2 } as const;
    const result = cold('a-bc|').pipe(throttleDistributed(limiter(onePerThree), options), nameOfError);
    expectObservable(result).toBe('a--(b#)', undefined, 'RateLimitExceededError');
  }),
);

test(
  'its error names that timeout',
  marbles(({ cold, limiter, expectObservable }) => {
    const result = cold('(ab|)').pipe(
      throttleDistributed(limiter(onePerThree), { strategy: 'error', timeout: 2 }),
    );
    expectObservable(result).toBe('(a#)', undefined, new RateLimitExceededError('api', 1, 3, 2));
  }),
);

test('RateLimitExceededError has the name of the limiter and the time until the next try', () => {
  const error = new RateLimitExceededError('api', 2, 2.5);
  assert.instance(error, SluiceError);
  assert.is(error.name, 'RateLimitExceededError');
  assert.is(error.code, 'ERR_SLUICE_LIMIT');
  assert.is(error.permits, 2);
  assert.is(error.retryAfter, 2.5);
  assert.is(error.message, 'limiter "api": 2 permits are not available now; try again in 3 ms');
  const late = new RateLimitExceededError('api', 1, 3, 2);
  assert.is(late.message, 'limiter "api": 1 permit is not available within 2 ms; try again in 3 ms');
});

test(
  'a value that cannot be granted within the timeout is rejected as soon as that is known',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('abc|');
    const result = source.pipe(throttleDistributed(limiter(onePerThree), { timeout: 1.5 }));
    expectObservable(result).toBe('a#', undefined, new AcquireTimeoutError('api', 1, 1.5, 2));
    expectSubscriptions(source.subscriptions).toBe('^!');
  }),
);

test(
  'a timeout equal to the wait is kept',
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('ab-c|');
    const result = source.pipe(throttleDistributed(limiter(onePerThree), { timeout: 2 }), nameOfError);
    expectObservable(result).toBe('a--(b#)', undefined, 'AcquireTimeoutError');
  }),
);

test(
  'an infinite timeout waits',
  marbles(({ cold, limiter, expectObservable }) => {
    const result = cold('abc|').pipe(throttleDistributed(limiter(onePerThree), { timeout: Infinity }));
    expectObservable(result).toBe('a--b--(c|)');
  }),
);

test(
  "onTimeout 'drop' drops late values without a charge, and keeps the order of the others",
  marbles(({ cold, limiter, expectObservable }) => {
    // c would wait 4 frames, d 3, e 2.
    const source = cold('abcde|');
    const expected = '   a--b--(e|)';
    const options = { timeout: 2, onTimeout: 'drop' } as const;
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree), options))).toBe(expected);
  }),
);

test(
  "a timeout of 0 with onTimeout 'drop' does not wait",
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('abcd|');
    const expected = '   a--d|';
    const options = { timeout: 0, onTimeout: 'drop' } as const;
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree), options))).toBe(expected);
  }),
);

test(
  'a value is rejected at once if the queue in front of it takes longer than its timeout',
  marbles(({ cold, limiter, expectObservable }) => {
    // More than a process reserves ahead.
    const crowd = cold('(abcdefghijklmnop)');
    const hasty = cold('-x|');
    const shared = limiter(onePerThree);
    const options = { timeout: 20, onTimeout: 'drop' } as const;
    expectObservable(crowd.pipe(throttleDistributed(shared)), '---------!').toBe('a--b--c');
    expectObservable(hasty.pipe(throttleDistributed(shared, options))).toBe('--|');
  }),
);

test.run();
