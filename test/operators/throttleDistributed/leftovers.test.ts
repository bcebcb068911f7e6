import { config, Subject } from 'rxjs';
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Permit,
  permits$,
  RateLimiter,
  slidingWindow,
  throttleDistributed,
} from '../../../src/index.ts';
import { assertIdle, marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, nothing is left after the end');

test(
  'after an error nothing more is emitted',
  marbles(({ limiter, flush }) => {
    const inVain = sinon.fake();
    config.onStoppedNotification = inVain;
    try {
      const source = new Subject<string>();
      const failed = sinon.fake();
      const twoPerThree = limiter(slidingWindow({ permits: 2, interval: 3 }));
      source.pipe(throttleDistributed(twoPerThree, { timeout: 1 })).subscribe({
        next(value) {
          // One reply rejects two values.
          if (value === 'b') for (const next of ['c', 'd']) source.next(next);
        },
        error: failed,
      });
      for (const next of ['a', 'b']) source.next(next);
      flush();
      assert.is(failed.callCount, 1);
      assert.is(inVain.callCount, 0);
    } finally {
      config.onStoppedNotification = null;
    }
  }),
);

for (const [how, end] of Object.entries({
  'an unsubscription': (_: Subject<number>, leave: () => void) => leave(),
  'an error': (source: Subject<number>) => source.error('error'),
})) {
  test(`no timer is left after ${how}`, () => {
    const clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    try {
      const limiter = new RateLimiter({ name: 'api', limit: onePerThree });
      const source = new Subject<number>();
      const emitted = sinon.fake();
      const throttled = source.pipe(throttleDistributed(limiter));
      const subscription = throttled.subscribe({ next: emitted, error: () => {} });
      for (let i = 0; i < 100; i++) source.next(i);
      assert.is(clock.countTimers(), 1);
      end(source, () => subscription.unsubscribe());
      assert.is(clock.countTimers(), 0);
      assert.equal(emitted.args, [[0]]);
      assertIdle(limiter);
    } finally {
      clock.restore();
    }
  });
}

for (const [what, options] of Object.entries({ counted: {}, carried: { timeout: 1_000 } }))
  test(
    `permits that come back while the consumer handles an error go to no value of the stream: values ${what}`,
    marbles(async ({ limiter }) => {
      const limited = limiter(slidingWindow({ permits: 2, interval: 500 }));
      let permit: Permit | undefined;
      permits$(limited, 2).subscribe((granted) => {
        permit = granted;
      });
      const source = new Subject<string>();
      const error = () => void permit!.refund();
      source.pipe(throttleDistributed(limited, options)).subscribe({ error });
      source.next('a');
      source.error('error');
      assert.is(await limited.availablePermits(), 2);
    }),
  );

test(
  'a value that the consumer pushes while it handles an error acquires no permit',
  marbles(async ({ limiter }) => {
    const limited = limiter(onePerThree);
    const source = new Subject<string>();
    const permits = (value: string) => {
      if (value === 'a') throw 'error';
      return 1;
    };
    source.pipe(throttleDistributed(limited, { permits })).subscribe({ error: () => source.next('b') });
    source.next('a');
    assert.is(await limited.availablePermits(), 1);
  }),
);

test("a value that overflow 'dropOldest' drops leaves no request behind, even without a reservation", () => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 1, interval: 60_000 }) });
  const leaving = new AbortController();
  // The second has the reservation.
  for (let i = 0; i < 2; i++) limiter.acquire(1, { signal: leaving.signal }).catch(() => undefined);
  const source = new Subject<number>();
  const options = { maxQueue: 1, overflow: 'dropOldest' } as const;
  const subscription = source.pipe(throttleDistributed(limiter, options)).subscribe();
  for (let i = 0; i < 10; i++) source.next(i);
  const { queued } = limiter.stats();
  subscription.unsubscribe();
  leaving.abort();
  assert.is(queued, 1);
});

test.run();
