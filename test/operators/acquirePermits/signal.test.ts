import { defer, type Observable, of, Subject, takeUntil } from 'rxjs';
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { acquirePermits, type RateLimiter, slidingWindow, throttleDistributed } from '../../../src/index.ts';
import { marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('acquirePermits, signals and ends at awkward moments');
const reason = { why: 'enough' };

test(
  "an abort while it waits is an error with the signal's reason, and refunds the permit",
  marbles(({ cold, limiter, at, flush, expectObservable, expectSubscriptions }) => {
    const shared = limiter(onePerThree);
    const controller = new AbortController();
    const source = cold('x');
    const failed = sinon.fake();
    expectObservable(of('a').pipe(acquirePermits(shared))).toBe('(a|)');
    at(0, () => {
      const waiting = source.pipe(acquirePermits(shared, 1, { signal: controller.signal }));
      waiting.subscribe({ error: failed });
    });
    at(2, () => controller.abort(reason));
    at(2, () => assert.is(failed.callCount, 1));
    expectObservable(cold('--b').pipe(throttleDistributed(shared))).toBe('---b');
    expectSubscriptions(source.subscriptions).toBe([]);
    flush();
    assert.is(failed.args[0][0], reason);
  }),
);

test(
  'an aborted signal is an error at once, and nothing is charged',
  marbles(async ({ limiter }) => {
    const limited = limiter(onePerThree);
    const failed = sinon.fake();
    const signal = AbortSignal.abort(reason);
    of('x')
      .pipe(acquirePermits(limited, 1, { signal }))
      .subscribe({ error: failed });
    assert.is(failed.args[0][0], reason);
    assert.is(await limited.availablePermits(), 1);
  }),
);

test(
  'no listener is left on a signal after a grant or an unsubscription',
  marbles(({ cold, limiter, at, flush, expectObservable }) => {
    const shared = limiter(onePerThree);
    const { signal } = new AbortController();
    const added = sinon.spy(signal, 'addEventListener');
    const removed = sinon.spy(signal, 'removeEventListener');
    const acquire = acquirePermits<string, unknown>(shared, 1, { signal });
    expectObservable(cold('--x').pipe(acquire)).toBe('--x');
    expectObservable(cold('x').pipe(acquire), '-!').toBe('-');
    at(1, () => assert.is(removed.callCount, 2));
    flush();
    assert.equal(removed.args, added.args);
  }),
);

const ends = {
  'unsubscribed from': (source: Observable<string>, limiter: RateLimiter) => {
    const stop = new Subject<void>();
    const result = source.pipe(acquirePermits(limiter), takeUntil(stop));
    return { result, end: () => stop.next() };
  },
  aborted: (source: Observable<string>, limiter: RateLimiter) => {
    const controller = new AbortController();
    const { signal } = controller;
    return { result: source.pipe(acquirePermits(limiter, 1, { signal })), end: () => controller.abort() };
  },
};
for (const [how, prepare] of Object.entries(ends)) {
  test(
    `a request that is ${how} while it is made does not subscribe to the source, and its permit is refunded`,
    marbles(async ({ cold, limiter, at, flush }) => {
      const limited = limiter(slidingWindow({ permits: 3, interval: 5 }));
      const subscribed = sinon.fake(() => of('x'));
      const { result, end } = prepare(defer(subscribed), limited);
      // d is due at frame 5, and is granted by the next call.
      at(5, () => result.subscribe({ error: () => {} }));
      const others = cold('(abcd)').pipe(throttleDistributed(limited));
      others.subscribe((value) => {
        if (value === 'd') end();
      });
      let left: Promise<number> | undefined;
      at(6, () => {
        left = limited.availablePermits();
      });
      flush();
      assert.is(subscribed.callCount, 0);
      assert.is(await left, 2);
    }),
  );
}

test.run();
