import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { leakyBucket, throttleDistributed, tokenBucket } from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, permits');
const burstOfThree = tokenBucket({ permits: 1, interval: 3, burst: 3 });

test(
  'every value costs a constant number',
  marbles(({ cold, limiter, expectObservable }) => {
    const source = cold('ab|');
    const expected = '   a--(b|)';
    expectObservable(source.pipe(throttleDistributed(limiter(burstOfThree), { permits: 2 }))).toBe(expected);
  }),
);

test(
  'a function receives the value and its index, which starts at 0 in each subscription',
  marbles(({ cold, limiter, expectObservable, flush }) => {
    const asked: [string, number][] = [];
    const permits = (value: string, index: number) => {
      asked.push([value, index]);
      return index + 1;
    };
    const source = cold('abc|');
    const expected = '   ab-------(c|)';
    expectObservable(source.pipe(throttleDistributed(limiter(burstOfThree), { permits }))).toBe(expected);
    expectObservable(source.pipe(throttleDistributed(limiter(burstOfThree), { permits }))).toBe(expected);
    flush();
    const both = ['a', 'b', 'c'].flatMap((value, index) => [
      [value, index],
      [value, index],
    ]);
    assert.equal(asked, both);
  }),
);

test(
  'the index counts all values of the source, dropped ones too',
  marbles(({ cold, limiter, flush }) => {
    const asked: [string, number][] = [];
    const permits = (value: string, index: number) => {
      asked.push([value, index]);
      return 1;
    };
    const options = { permits, maxQueue: 1, overflow: 'dropNewest' } as const;
    cold('abc-d|')
      .pipe(throttleDistributed(limiter(onePerThree), options))
      .subscribe();
    flush();
    assert.equal(asked, [
      ['a', 0],
      ['b', 1],
      ['d', 3],
    ]);
  }),
);

test(
  'a record has the cost for each limit, and all are charged together',
  marbles(({ cold, limiter, expectObservable }) => {
    const limit = {
      requests: tokenBucket({ permits: 1, interval: 3, burst: 2 }),
      tokens: tokenBucket({ permits: 10, interval: 10 }),
    };
    const permits = (value: string) => ({ requests: 1, tokens: value === 'b' ? 10 : 4 });
    const source = cold('abc|');
    const expected = '   a---b---(c|)';
    expectObservable(source.pipe(throttleDistributed(limiter(limit), { permits }))).toBe(expected);
  }),
);

const slowAndFast = { slow: onePerThree, fast: leakyBucket({ permits: 1, interval: 1 }) };

test(
  'a constant record does not charge the limits that it leaves out',
  marbles(({ cold, limiter, expectObservable }) => {
    const result = cold('abc|').pipe(throttleDistributed(limiter(slowAndFast), { permits: { fast: 1 } }));
    expectObservable(result).toBe('abc|');
  }),
);

test(
  'a number is charged to every limit of a record',
  marbles(({ cold, limiter, expectObservable }) => {
    const result = cold('abc|').pipe(throttleDistributed(limiter(slowAndFast), { permits: 1 }));
    expectObservable(result).toBe('a--b--(c|)');
  }),
);

test.run();
