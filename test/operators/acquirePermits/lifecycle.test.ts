import { of, repeat, retry } from 'rxjs';
import { suite } from 'uvu';
import {
  AcquireTimeoutError,
  acquirePermits,
  PermitsExceedLimitError,
  tokenBucket,
} from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('acquirePermits, from subscription to end');

test(
  'the source is subscribed to when the permit is granted, and then mirrored',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('-xy|');
    const result = source.pipe(acquirePermits(limiter(onePerThree)));
    expectObservable(result).toBe('-xy|');
    expectObservable(result).toBe('----xy|');
    expectSubscriptions(source.subscriptions).toBe(['^--!', '---^--!']);
  }),
);

test(
  'errors of the source pass',
  marbles(({ cold, limiter, expectObservable }) => {
    expectObservable(cold('-x#').pipe(acquirePermits(limiter(onePerThree)))).toBe('-x#');
  }),
);

test(
  'each attempt of a retry is charged',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('-#');
    const result = source.pipe(acquirePermits(limiter(onePerThree)), retry(2));
    expectObservable(result).toBe('-------#');
    expectSubscriptions(source.subscriptions).toBe(['^!', '---^!', '------^!']);
  }),
);

test(
  'each repetition is charged',
  marbles(({ limiter, expectObservable }) => {
    const result = of('x').pipe(acquirePermits(limiter(onePerThree)), repeat(3));
    expectObservable(result).toBe('x--x--(x|)');
  }),
);

test(
  'a subscription is charged the given permits',
  marbles(({ limiter, expectObservable }) => {
    const burst = tokenBucket({ permits: 1, interval: 3, burst: 2 });
    const result = of('x').pipe(acquirePermits(limiter(burst), 2), repeat(2));
    expectObservable(result).toBe('x-----(x|)');
    const limits = { requests: burst, tokens: onePerThree };
    const ofRecord = of('x').pipe(acquirePermits(limiter(limits), { requests: 2 }), repeat(2));
    expectObservable(ofRecord).toBe('x-----(x|)');
  }),
);

test(
  'unsubscribing while it waits never subscribes to the source, and refunds the permit',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const shared = limiter(onePerThree);
    const source = cold('x');
    expectObservable(of('a').pipe(acquirePermits(shared))).toBe('(a|)');
    expectObservable(source.pipe(acquirePermits(shared)), '--!').toBe('---');
    expectObservable(of('b').pipe(acquirePermits(shared))).toBe('---(b|)');
    expectSubscriptions(source.subscriptions).toBe([]);
  }),
);

test(
  'unsubscribing later unsubscribes from the source, and keeps the permit',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const shared = limiter(onePerThree);
    const source = cold('xx');
    expectObservable(source.pipe(acquirePermits(shared)), '-!').toBe('x');
    expectObservable(of('b').pipe(acquirePermits(shared))).toBe('---(b|)');
    expectSubscriptions(source.subscriptions).toBe(['^!']);
  }),
);

test(
  'a timeout that cannot be kept is an error at once, uncharged, and the source is not subscribed to',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const shared = limiter(onePerThree);
    const source = cold('x');
    expectObservable(of('a').pipe(acquirePermits(shared))).toBe('(a|)');
    const error = new AcquireTimeoutError('api', 1, 2, 3);
    expectObservable(source.pipe(acquirePermits(shared, 1, { timeout: 2 }))).toBe('#', undefined, error);
    expectObservable(of('b').pipe(acquirePermits(shared, 1, { timeout: 3 }))).toBe('---(b|)');
    expectSubscriptions(source.subscriptions).toBe([]);
  }),
);

test(
  'a timeout bounds the wait for the permit, not the source',
  marbles(({ cold, limiter, expectObservable }) => {
    const slow = cold('------x|');
    expectObservable(slow.pipe(acquirePermits(limiter(onePerThree), 1, { timeout: 1 }))).toBe('------x|');
  }),
);

test(
  'more permits than the limit can grant are an error of each subscription, uncharged',
  marbles(({ limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    const error = new PermitsExceedLimitError('api', 2, 1);
    expectObservable(of('x').pipe(acquirePermits(shared, 2))).toBe('#', undefined, error);
    expectObservable(of('a').pipe(acquirePermits(shared))).toBe('(a|)');
  }),
);

test.run();
