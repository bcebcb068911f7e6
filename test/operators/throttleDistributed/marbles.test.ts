import { EMPTY, NEVER, of, throwError, toArray } from 'rxjs';
import { suite } from 'uvu';
import { fixedWindow, slidingWindow, throttleDistributed, tokenBucket } from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, in marbles');

test(
  'a leaky bucket spaces the values evenly, and completion waits for the last',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('  abc|');
    const subscription = ' ^--!';
    const expected = '     a--b--(c|)';
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree)))).toBe(expected);
    expectSubscriptions(source.subscriptions).toBe(subscription);
  }),
);

test(
  'a token bucket lets its burst pass at once, then spaces the values',
  marbles(({ cold, limiter, expectObservable }) => {
    const limit = tokenBucket({ permits: 1, interval: 3, burst: 2 });
    const source = cold('abc|');
    const expected = '   ab-(c|)';
    expectObservable(source.pipe(throttleDistributed(limiter(limit)))).toBe(expected);
  }),
);

test(
  'a sliding window lets its permits pass at once, and again an interval later',
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('-(abcde)|');
    const expected = '   -(ab)-(cd)-(e|)';
    const limit = slidingWindow({ permits: 2, interval: 5 });
    expectObservable(source.pipe(throttleDistributed(limiter(limit)))).toBe(expected);
  }),
);

test(
  'a sliding window counts back from each moment',
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('a---bcd|');
    const expected = '   a---bc---(d|)';
    const limit = slidingWindow({ permits: 2, interval: 5 });
    expectObservable(source.pipe(throttleDistributed(limiter(limit)))).toBe(expected);
  }),
);

test(
  'a fixed window starts with its first permit',
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('-(abcde)|');
    const expected = '   -(ab)-(cd)-(e|)';
    const limit = fixedWindow({ permits: 2, interval: 5 });
    expectObservable(source.pipe(throttleDistributed(limiter(limit)))).toBe(expected);
  }),
);

test(
  'a fixed window that is aligned to the clock starts at multiples of its interval',
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('-(abcde)|');
    const expected = '   -(ab)(cd)-(e|)';
    const limit = fixedWindow({ permits: 2, interval: 5, align: 'epoch' });
    expectObservable(source.pipe(throttleDistributed(limiter(limit)))).toBe(expected);
  }),
);

test(
  'values slower than the limit pass without delay',
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('-a--b----c---|');
    const expected = '   -a--b----c---|';
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree)))).toBe(expected);
  }),
);

test(
  'of a hot source only values after the subscription count',
  marbles(({ hot, limiter, expectObservable, expectSubscriptions }) => {
    const source = hot(' ab-^cde---|');
    const subscription = '  ^------!';
    const expected = '      -c--d--(e|)';
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree)))).toBe(expected);
    expectSubscriptions(source.subscriptions).toBe(subscription);
  }),
);

test(
  'an empty source completes at once',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('|');
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree)))).toBe('|');
    expectSubscriptions(source.subscriptions).toBe('(^!)');
    expectObservable(EMPTY.pipe(throttleDistributed(limiter(onePerThree)))).toBe('|');
  }),
);

test(
  'a source that never emits stays silent and subscribed to',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('-');
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree)))).toBe('-');
    expectSubscriptions(source.subscriptions).toBe('^');
    expectObservable(NEVER.pipe(throttleDistributed(limiter(onePerThree)))).toBe('-');
  }),
);

test(
  'a source that does not complete keeps the result open after its last value',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('ab');
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree)))).toBe('a--b');
    expectSubscriptions(source.subscriptions).toBe('^');
  }),
);

test(
  'a source that only throws errors at once',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('#');
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree)))).toBe('#');
    expectSubscriptions(source.subscriptions).toBe('(^!)');
    const thrown = throwError(() => 'error');
    expectObservable(thrown.pipe(throttleDistributed(limiter(onePerThree)))).toBe('#');
  }),
);

for (const [what, options] of Object.entries({ counted: {}, carried: { timeout: 1_000 } })) {
  test(
    `values pass unchanged, undefined too, ${what} by the line`,
    marbles(({ limiter, expectObservable }) => {
      const odd = [undefined, null, 0, '', false, Number.NaN];
      const result = of(...odd).pipe(throttleDistributed(limiter(onePerThree), options), toArray());
      expectObservable(result).toBe('15ms (v|)', { v: odd });
    }),
  );
}

test.run();
