import { of } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { QueueOverflowError, SluiceError, throttleDistributed, tokenBucket } from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, maxQueue and overflow');

test(
  'a value beyond maxQueue raises QueueOverflowError, and unsubscribes from the source',
  marbles(({ cold, limiter, expectObservable, expectSubscriptions }) => {
    const source = cold('abc|');
    const result = source.pipe(throttleDistributed(limiter(onePerThree), { maxQueue: 1 }));
    expectObservable(result).toBe('a-#', undefined, new QueueOverflowError('api', 1));
    expectSubscriptions(source.subscriptions).toBe('^-!');
  }),
);

test('QueueOverflowError has the name of the limiter and maxQueue', () => {
  const error = new QueueOverflowError('api', 3);
  assert.instance(error, SluiceError);
  assert.is(error.name, 'QueueOverflowError');
  assert.is(error.code, 'ERR_SLUICE_QUEUE');
  assert.is(error.maxQueue, 3);
  assert.match(error.message, 'limiter "api": the queue is full, as maxQueue is 3');
});

test(
  "overflow 'dropOldest' drops the oldest value, whose reservation passes to the newest",
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('abc|');
    const expected = '   a--(c|)';
    const options = { maxQueue: 1, overflow: 'dropOldest' } as const;
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree), options))).toBe(expected);
  }),
);

test(
  "overflow 'dropNewest' keeps the waiting values",
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('abc|');
    const expected = '   a--(b|)';
    const options = { maxQueue: 1, overflow: 'dropNewest' } as const;
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree), options))).toBe(expected);
  }),
);

const several = {
  error: '     (a#)',
  dropOldest: 'a--d--(e|)',
  dropNewest: 'a--b--(c|)',
};
for (const [overflow, expected] of Object.entries(several)) {
  test(
    `a synchronous source fills a queue of two, overflow '${overflow}'`,
    marbles(({ limiter, expectObservable }) => {
      const options = { maxQueue: 2, overflow: overflow as keyof typeof several };
      const result = of('a', 'b', 'c', 'd', 'e').pipe(throttleDistributed(limiter(onePerThree), options));
      expectObservable(result).toBe(expected, undefined, new QueueOverflowError('api', 2));
    }),
  );
}

test(
  'an emitted value leaves its place in the queue',
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('ab--c--d|');
    const expected = '   a--b--c--(d|)';
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree), { maxQueue: 1 }))).toBe(expected);
  }),
);

test(
  'maxQueue counts only the values of its own subscription',
  marbles(({ cold, limiter, expectObservable }) => {
    const bounded = throttleDistributed<string, unknown>(limiter(onePerThree), { maxQueue: 1 });
    expectObservable(cold('ab|').pipe(bounded)).toBe('a--(b|)');
    expectObservable(cold('-c|').pipe(bounded)).toBe('------(c|)');
  }),
);

test(
  'the maxQueue of the limiter counts the waiting values of all subscriptions',
  marbles(({ cold, limiter, expectObservable }) => {
    const narrow = limiter(onePerThree, { maxQueue: 1 });
    expectObservable(cold('ab|').pipe(throttleDistributed(narrow))).toBe('a--(b|)');
    const overflow = new QueueOverflowError('api', 1);
    expectObservable(cold('--c|').pipe(throttleDistributed(narrow))).toBe('--#', undefined, overflow);
  }),
);

test(
  "overflow 'dropOldest' charges the newest value its own cost",
  marbles(({ cold, limiter, expectObservable }) => {
    const limit = tokenBucket({ permits: 1, interval: 3, burst: 3 });
    const permits = (value: string) => (value === 'c' ? 1 : 3);
    const source = cold('abc|');
    const expected = '   a--(c|)';
    const options = { permits, maxQueue: 1, overflow: 'dropOldest' } as const;
    expectObservable(source.pipe(throttleDistributed(limiter(limit), options))).toBe(expected);
  }),
);

test(
  "overflow 'dropOldest' compares the newest value's timeout with its wait without the dropped value",
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('abc|');
    const expected = '   a--(c|)';
    const options = { maxQueue: 1, overflow: 'dropOldest', timeout: 3 } as const;
    expectObservable(source.pipe(throttleDistributed(limiter(onePerThree), options))).toBe(expected);
  }),
);

test(
  "overflow 'dropOldest' never drops the newest value, not even when the oldest is due",
  marbles(({ cold, limiter, flush }) => {
    const emitted: string[] = [];
    const options = { maxQueue: 1, overflow: 'dropOldest' } as const;
    const source = cold('ab-c|');
    source.pipe(throttleDistributed(limiter(onePerThree), options)).subscribe((value) => emitted.push(value));
    flush();
    assert.is(emitted.at(-1), 'c');
  }),
);

test.run();
