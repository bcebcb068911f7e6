import { map, mergeMap, Observable, of, repeat, retry, Subscriber, take } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow, throttleDistributed } from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, from subscription to end');

test(
  'an error of the source passes at once, before the waiting values',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('  abc#');
    const subscription = ' ^--!';
    const expected = '     a--#';
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree)))).toBe(expected);
    expectSubscriptions(source.subscriptions).toBe(subscription);
  }),
);

test(
  'unsubscribing unsubscribes from the source at once, and nothing is emitted after it',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('  abc---|');
    const unsubscribed = ' --!';
    const subscription = ' ^-!';
    const expected = '     a--';
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree))), unsubscribed).toBe(expected);
    expectSubscriptions(source.subscriptions).toBe(subscription);
  }),
);

test(
  'unsubscribing after the source has completed drops the waiting values',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('  abc|');
    const unsubscribed = ' -----!';
    const subscription = ' ^--!';
    const expected = '     a--b--';
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree))), unsubscribed).toBe(expected);
    expectSubscriptions(source.subscriptions).toBe(subscription);
  }),
);

test(
  'unsubscription passes through a chain of operators',
  marbles(({ hot, limiter, expectObservable, expectSubscriptions }) => {
    const source = hot('   -abcd---|');
    const unsubscribed = ' -----!';
    const subscription = ' ^----!';
    const expected = '     -a--b-';
    const result = source.pipe(
      mergeMap((value) => of(value)),
      throttleDistributed(limiter(onePerThree)),
      mergeMap((value) => of(value)),
    );
    expectObservable(result, unsubscribed).toBe(expected);
    expectSubscriptions(source.subscriptions).toBe(subscription);
  }),
);

test(
  'a consumer that unsubscribes stops a synchronous source at that value',
  marbles(({ limiter }) => {
    const pulled: number[] = [];
    const synchronous = new Observable<number>((subscriber) => {
      // The bound only ends a test that fails.
      for (let i = 0; !subscriber.closed && i < 1_000; i++) {
        pulled.push(i);
        subscriber.next(i);
      }
    });
    const wide = limiter(slidingWindow({ permits: 2_000, interval: 3 }));
    const emitted: number[] = [];
    synchronous.pipe(throttleDistributed(wide), take(3)).subscribe((value) => emitted.push(value));
    assert.equal(pulled, [0, 1, 2]);
    assert.equal(emitted, [0, 1, 2]);
  }),
);

test(
  'each subscription has its own values and its own subscription to the source, and both share the limit',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('ab|');
    const result = source.pipe(throttleDistributed(limiter(onePerThree)));
    expectObservable(result).toBe('a-----(b|)');
    expectObservable(result).toBe('---a-----(b|)');
    expectSubscriptions(source.subscriptions).toBe(['^-!', '^-!']);
  }),
);

test(
  'a retry starts again, without the values that waited at the error',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('ab#');
    const result = source.pipe(throttleDistributed(limiter(onePerThree)), retry(1));
    expectObservable(result).toBe('a--a#');
    expectSubscriptions(source.subscriptions).toBe(['^-!', '--^-!']);
  }),
);

test(
  'a repeat starts when the last value was emitted',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('ab|');
    const result = source.pipe(throttleDistributed(limiter(onePerThree)), repeat(2));
    expectObservable(result).toBe('a--b--a--(b|)');
    expectSubscriptions(source.subscriptions).toBe(['^-!', '---^-!']);
  }),
);

test(
  'an error of a later operator ends it, and unsubscribes from the source',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('abc---|');
    const picky = map((value: string) => {
      if (value === 'b') throw 'error';
      return value;
    });
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree)), picky)).toBe('a--#');
    expectSubscriptions(source.subscriptions).toBe('^--!');
  }),
);

for (const [what, options] of Object.entries({ counted: {}, carried: { timeout: 1_000 } }))
  test(
    `a subscriber that is closed already receives nothing, and is not charged: values ${what} by the line`,
    marbles(async ({ limiter }) => {
      const limited = limiter(slidingWindow({ permits: 2, interval: 3 }));
      const closed = new Subscriber<string>({
        next: () => assert.unreachable(),
        error: () => assert.unreachable(),
        complete: () => assert.unreachable(),
      });
      closed.unsubscribe();
      of('a', 'b').pipe(throttleDistributed(limited, options)).subscribe(closed);
      assert.is(await limited.availablePermits(), 2);
    }),
  );

test.run();
