import { Subject, type Subscription } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  PermitsExceedLimitError,
  SluiceError,
  throttleDistributed,
  tokenBucket,
} from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, invalid permits');
const burstOfThree = tokenBucket({ permits: 1, interval: 3, burst: 3 });

const wrong: [unknown, new (...args: never[]) => Error, string][] = [
  [0, RangeError, 'permits: expected a positive safe integer, got 0'],
  [-1, RangeError, 'permits: expected a positive safe integer, got -1'],
  [Number.NaN, RangeError, 'permits: expected a positive safe integer, got NaN'],
  [1.5, RangeError, 'permits: expected a positive safe integer, got 1.5'],
  ['1', TypeError, 'permits: expected a positive safe integer, got "1"'],
  [undefined, TypeError, 'permits: expected a positive safe integer, got undefined'],
  [4, PermitsExceedLimitError, 'limiter "api": 4 permits are more than the limit can ever grant'],
];
for (const [permits, type, message] of wrong) {
  test(
    `a function that returns ${JSON.stringify(permits) ?? permits} is an error of the stream, and charges nothing`,
    marbles(async ({ limiter }) => {
      const limited = limiter(burstOfThree);
      const source = new Subject<string>();
      const errors: Error[] = [];
      source
        .pipe(throttleDistributed(limited, { permits: () => permits as number }))
        .subscribe({ error: (error) => errors.push(error) });
      source.next('a');
      assert.is(errors.length, 1);
      assert.instance(errors[0], type);
      assert.ok(errors[0].message.startsWith(message), errors[0].message);
      assert.not(source.observed);
      assert.is(await limited.availablePermits(), 3);
    }),
  );
}

test(
  'a constant cost above the limit is an error of the stream at its first value',
  marbles(({ cold, limiter, expectObservable }) => {
    const tooMuch = throttleDistributed<string, unknown>(limiter(onePerThree), { permits: 2 });
    const error = new PermitsExceedLimitError('api', 2, 1);
    expectObservable(cold('-a|').pipe(tooMuch)).toBe('-#', undefined, error);
    expectObservable(cold('-|').pipe(tooMuch)).toBe('-|');
  }),
);

test('PermitsExceedLimitError has the name of the limiter, the permits of the request, and the most that are possible', () => {
  const error = new PermitsExceedLimitError('api', { tokens: 5 }, { tokens: 4 });
  assert.instance(error, SluiceError);
  assert.is(error.name, 'PermitsExceedLimitError');
  assert.is(error.code, 'ERR_SLUICE_PERMITS');
  assert.equal(error.permits, { tokens: 5 });
  assert.equal(error.limit, { tokens: 4 });
});

test(
  'an error of the function is an error of the stream, and unsubscribes from the source',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('abc|');
    const permits = (value: string) => {
      if (value === 'c') throw 'error';
      return 1;
    };
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree), { permits }))).toBe('a-#');
    expectSubscriptions(source.subscriptions).toBe('^-!');
  }),
);

test(
  'a value whose function unsubscribes is not charged',
  marbles(async ({ limiter }) => {
    const limited = limiter(onePerThree);
    const source = new Subject<string>();
    let subscription: Subscription;
    const permits = () => {
      subscription.unsubscribe();
      return 1;
    };
    subscription = source.pipe(throttleDistributed(limited, { permits })).subscribe();
    source.next('a');
    assert.is(await limited.availablePermits(), 1);
  }),
);

test.run();
