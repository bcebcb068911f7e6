import { map, take } from 'rxjs';
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type AcquireOptions,
  AcquireTimeoutError,
  type Permit,
  PermitsExceedLimitError,
  permits$,
  RateLimiter,
  throttleDistributed,
  tokenBucket,
} from '../../src/index.ts';
import { marbles, onePerThree } from '../support/marbles.ts';
import { wrongAcquire } from '../support/wrongAcquire.ts';

const test = suite('permits$');
const limiter = new RateLimiter({ name: 'api', limit: onePerThree });

const grantedAt = map((permit: Permit<unknown>) => permit.grantedAt);

test(
  'it emits one permit at its granted moment, then completes; each subscription acquires its own',
  marbles(({ limiter, expectObservable }) => {
    const result = permits$(limiter(onePerThree)).pipe(
      map(({ permits, waited, grantedAt, source }) => ({ permits, waited, grantedAt, source })),
    );
    const a = { permits: 1, waited: 0, grantedAt: 0, source: 'memory' };
    const b = { permits: 1, waited: 3, grantedAt: 3, source: 'memory' };
    expectObservable(result).toBe('(a|)', { a });
    expectObservable(result).toBe('---(b|)', { b });
  }),
);

test(
  'it is cold: no permit is requested before a subscription',
  marbles(async ({ limiter }) => {
    const limited = limiter(onePerThree);
    const permits = permits$(limited);
    assert.is(limited.stats().calls, 0);
    permits.subscribe();
    assert.is(limited.stats().granted, 1);
  }),
);

test(
  'it requests the given permits, of one limit or of several',
  marbles(({ limiter, expectObservable }) => {
    const burst = tokenBucket({ permits: 1, interval: 3, burst: 2 });
    const two = permits$(limiter(burst), 2).pipe(map(({ permits }) => permits));
    expectObservable(two).toBe('(a|)', { a: 2 });
    expectObservable(two).toBe('------(a|)', { a: 2 });
    const limits = { requests: onePerThree, tokens: burst };
    const asked = { tokens: 2 };
    const ofRecord = permits$(limiter(limits), asked).pipe(map(({ permits }) => permits));
    expectObservable(ofRecord).toBe('(a|)', { a: asked });
    expectObservable(ofRecord).toBe('------(a|)', { a: asked });
  }),
);

test(
  'unsubscribing before the grant cancels the request, and later requests move up',
  marbles(({ limiter, expectObservable }) => {
    const permits = permits$(limiter(onePerThree)).pipe(grantedAt);
    expectObservable(permits).toBe('(a|)', { a: 0 });
    expectObservable(permits, '--!').toBe('---');
    expectObservable(permits).toBe('---(b|)', { b: 3 });
  }),
);

test(
  'unsubscribing after the grant does not refund the permit',
  marbles(({ cold, limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    expectObservable(permits$(shared).pipe(take(1), grantedAt)).toBe('(a|)', { a: 0 });
    expectObservable(cold('-x').pipe(throttleDistributed(shared))).toBe('---x');
  }),
);

test(
  'a refunded permit is available for the next request',
  marbles(({ cold, limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    permits$(shared).subscribe((permit) => void permit.refund());
    expectObservable(cold('-x').pipe(throttleDistributed(shared))).toBe('-x');
  }),
);

test(
  'a timeout that cannot be kept is an error at once, uncharged',
  marbles(({ limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    expectObservable(permits$(shared).pipe(grantedAt)).toBe('(a|)', { a: 0 });
    const error = new AcquireTimeoutError('api', 1, 2, 3);
    expectObservable(permits$(shared, 1, { timeout: 2 })).toBe('#', undefined, error);
    expectObservable(permits$(shared, 1, { timeout: 3 }).pipe(grantedAt)).toBe('---(b|)', { b: 3 });
  }),
);

test(
  'more permits than the limit can grant are an error of each subscription, uncharged',
  marbles(({ limiter, expectObservable }) => {
    const shared = limiter(onePerThree);
    const error = new PermitsExceedLimitError('api', 2, 1);
    expectObservable(permits$(shared, 2)).toBe('#', undefined, error);
    expectObservable(permits$(shared).pipe(grantedAt)).toBe('(a|)', { a: 0 });
  }),
);

test(
  "an abort while it waits is an error with the signal's reason, and refunds the permit",
  marbles(({ limiter, at, flush, expectObservable }) => {
    const shared = limiter(onePerThree);
    const controller = new AbortController();
    const failed = sinon.fake();
    const reason = { why: 'enough' };
    permits$(shared).subscribe();
    permits$(shared, 1, { signal: controller.signal }).subscribe({ error: failed });
    at(2, () => controller.abort(reason));
    expectObservable(permits$(shared).pipe(grantedAt)).toBe('---(b|)', { b: 3 });
    flush();
    assert.is(failed.callCount, 1);
    assert.is(failed.args[0][0], reason);
  }),
);

for (const [permits, options, type, message] of wrongAcquire) {
  test(`invalid arguments throw: ${message}`, () => {
    const make = () => permits$(limiter, permits as number, options as AcquireOptions);
    assert.throws(make, (error: Error) => error.constructor === type && error.message === message);
  });
}

test('it needs a limiter', () => {
  assert.throws(
    () => permits$(null as unknown as RateLimiter),
    /^limiter: expected a RateLimiter or group\.get\(\), got null$/,
  );
});

test.run();
