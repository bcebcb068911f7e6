import { range } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryStore, slidingWindow, throttleDistributed, tokenBucket } from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, several subscriptions');

test(
  'subscriptions that share a limiter are served first come, first served',
  marbles(({ cold, limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    const one = cold('    a-b-|');
    const other = cold('  -x-y|');
    const expected = '    a-----(b|)';
    const otherwise = '   ---x-----(y|)';
    expectObservable(one.pipe(throttleDistributed(shared))).toBe(expected);
    expectObservable(other.pipe(throttleDistributed(shared))).toBe(otherwise);
  }),
);

test(
  'limiters of one name that share a memory store share one limit and one queue',
  marbles(({ cold, limiter, expectObservable }) => {
    const store = memoryStore();
    const one = cold('    a-b-|');
    const other = cold('  -x-y|');
    const expected = '    a-----(b|)';
    const otherwise = '   ---x-----(y|)';
    expectObservable(one.pipe(throttleDistributed(limiter(onePerThree, { store })))).toBe(expected);
    expectObservable(other.pipe(throttleDistributed(limiter(onePerThree, { store })))).toBe(otherwise);
  }),
);

test(
  'limiters of different names or different stores share no limit',
  marbles(({ cold, limiter, expectObservable }) => {
    const store = memoryStore();
    const limiters = [
      limiter(onePerThree, { store }),
      limiter(onePerThree, { store, name: 'other' }),
      limiter(onePerThree),
    ];
    for (const one of limiters) expectObservable(cold('ab|').pipe(throttleDistributed(one))).toBe('a--(b|)');
  }),
);

test(
  'the reservations of an unsubscribed subscription are free for later requests',
  marbles(({ cold, limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    const leaves = cold('  abc');
    const unsubscribed = ' --!';
    const later = cold('   ---x|');
    expectObservable(leaves.pipe(throttleDistributed(shared)), unsubscribed).toBe('a--');
    expectObservable(later.pipe(throttleDistributed(shared))).toBe('---x|');
  }),
);

test(
  'values behind those of an unsubscribed subscription move up',
  marbles(({ cold, limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    const leaves = cold('  (abc)');
    const unsubscribed = ' ----!';
    const behind = cold('  -(xy|)');
    const expected = '     ------x--(y|)';
    expectObservable(leaves.pipe(throttleDistributed(shared)), unsubscribed).toBe('a--b-');
    expectObservable(behind.pipe(throttleDistributed(shared))).toBe(expected);
  }),
);

test(
  'values behind those of a subscription whose source fails move up to the same moments',
  marbles(({ cold, limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    const fails = cold('  abc#');
    const behind = cold(' --x|');
    expectObservable(fails.pipe(throttleDistributed(shared))).toBe('a--#');
    expectObservable(behind.pipe(throttleDistributed(shared))).toBe('---(x|)');
  }),
);

test(
  'reservations that later values cannot take over are refunded',
  marbles(({ cold, limiter, expectObservable }) => {
    const shared = limiter(slidingWindow({ permits: 3, interval: 3 }));
    const costing = (permits: number) => throttleDistributed<string, unknown>(shared, { permits });
    expectObservable(cold('a').pipe(costing(3))).toBe('a');
    expectObservable(cold('x').pipe(costing(1)), '-!').toBe('-');
    expectObservable(cold('b').pipe(costing(2))).toBe('---b');
    expectObservable(cold('--c').pipe(costing(1))).toBe('---c');
  }),
);

test(
  'a subscription that ends when its values are due is not charged for them',
  marbles(async ({ cold, limiter, at, flush }) => {
    const limited = limiter(slidingWindow({ permits: 1, interval: 3 }));
    let left: Promise<number> | undefined;
    at(3, () => {
      subscription.unsubscribe();
      left = limited.availablePermits();
    });
    const subscription = cold('abc').pipe(throttleDistributed(limited)).subscribe();
    flush();
    assert.is(await left, 1);
    assert.is(limited.stats().granted, 1);
  }),
);

for (const [what, permits] of Object.entries({
  'the same': 1,
  'different permits': (index: number) => 1 + 4 * (index % 3),
})) {
  test(
    `an unsubscription refunds all of a thousand waiting values that cost ${what}`,
    marbles(async ({ limiter }) => {
      const limited = limiter(tokenBucket({ permits: 1, interval: 3, burst: 10 }));
      const emitted: number[] = [];
      range(0, 1_000)
        .pipe(throttleDistributed(limited, { permits }))
        .subscribe((value) => emitted.push(value))
        .unsubscribe();
      const charged = emitted.reduce(
        (sum, value) => sum + (typeof permits === 'function' ? permits(value) : permits),
        0,
      );
      assert.is(await limited.availablePermits(), 10 - charged);
    }),
  );
}

test.run();
