import { Subject, type Subscription, takeUntil } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, slidingWindow, throttleDistributed } from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, consumers that use the limiter while they receive a value');
const wide = slidingWindow({ permits: 100, interval: 3 });
const threePerFive = fixedWindow({ permits: 3, interval: 5 });

for (const [what, limit, expected] of [
  ['at once', wide, '(abcd|)'],
  ['in time', onePerThree, 'a--b--c--(d|)'],
] as const) {
  test(
    `values that a consumer pushes into the source are emitted ${what} and in order, and completion after them`,
    marbles(({ limiter, expectObservable, at }) => {
      const source = new Subject<string>();
      const result = new Subject<string>();
      source.pipe(throttleDistributed(limiter(limit))).subscribe({
        next(value) {
          if (value === 'a') for (const next of ['b', 'c']) source.next(next);
          result.next(value);
          if (value === 'b') {
            source.next('d');
            source.complete();
          }
        },
        complete: () => result.complete(),
      });
      expectObservable(result).toBe(expected);
      at(0, () => source.next('a'));
    }),
  );
}

test(
  'a consumer that makes the source fail receives the error at once, and nothing after it',
  marbles(({ limiter }) => {
    const source = new Subject<string>();
    const received: string[] = [];
    source.pipe(throttleDistributed(limiter(wide))).subscribe({
      next(value) {
        received.push(value);
        source.next('b');
        source.error('error');
      },
      error: (error) => received.push(error),
    });
    source.next('a');
    assert.equal(received, ['a', 'error']);
  }),
);

test(
  'a consumer that unsubscribes receives no more of the values that are due together, and their permits are refunded',
  marbles(async ({ cold, limiter, flush, at }) => {
    const limited = limiter(threePerFive);
    const emitted: string[] = [];
    const subscription: Subscription = cold('(abcdef)')
      .pipe(throttleDistributed(limited))
      .subscribe((value) => {
        emitted.push(value);
        if (value === 'd') subscription.unsubscribe();
      });
    let left: Promise<number> | undefined;
    at(6, () => {
      left = limited.availablePermits();
    });
    flush();
    assert.equal(emitted, ['a', 'b', 'c', 'd']);
    assert.is(await left, 2);
  }),
);

test(
  'a consumer can end another subscription whose value is due at the same moment',
  marbles(async ({ cold, limiter, flush, at, expectObservable }) => {
    const limited = limiter(threePerFive);
    const stop = new Subject<void>();
    cold('(abcd)')
      .pipe(throttleDistributed(limited))
      .subscribe((value) => {
        if (value === 'd') stop.next();
      });
    expectObservable(cold('(xy)').pipe(throttleDistributed(limited), takeUntil(stop))).toBe('-----|');
    let left: Promise<number> | undefined;
    at(6, () => {
      left = limited.availablePermits();
    });
    flush();
    assert.is(await left, 2);
  }),
);

test(
  'the values of a subscription that a consumer starts wait behind earlier ones',
  marbles(({ cold, limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    const started = new Subject<string>();
    expectObservable(started).toBe('---------x');
    cold('(abc)')
      .pipe(throttleDistributed(shared))
      .subscribe((value) => {
        if (value === 'a') cold('x').pipe(throttleDistributed(shared)).subscribe(started);
      });
    expectObservable(cold('-y').pipe(throttleDistributed(shared))).toBe('------------y');
  }),
);

test(
  "a value that a consumer pushes during a replacement stays behind it, with overflow 'dropOldest'",
  marbles(({ limiter, flush, at }) => {
    const source = new Subject<string>();
    const emitted: string[] = [];
    const limited = limiter(fixedWindow({ permits: 2, interval: 5 }));
    // c and d are due, and not emitted yet.
    at(5, () => source.next('e'));
    source.pipe(throttleDistributed(limited, { maxQueue: 2, overflow: 'dropOldest' })).subscribe((value) => {
      emitted.push(value);
      if (value === 'd') source.next('f');
    });
    for (const value of ['a', 'b', 'c', 'd']) source.next(value);
    flush();
    assert.equal(emitted.slice(-2), ['e', 'f']);
  }),
);

test.run();
