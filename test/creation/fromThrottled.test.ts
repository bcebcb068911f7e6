import { config, type Observable, Subject, take, takeUntil } from 'rxjs';
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  fromThrottled,
  PermitsExceedLimitError,
  permits$,
  QueueOverflowError,
  tokenBucket,
} from '../../src/index.ts';
import { marbles, onePerThree } from '../support/marbles.ts';
import { naturals, watched } from './inputs.ts';

const test = suite('fromThrottled, an iterable');
const burstOfFive = tokenBucket({ permits: 1, interval: 1_000, burst: 5 });

/** Runs a test, waits until unhandled errors are reported, and checks them. */
async function unhandledIn(work: () => void): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  config.onUnhandledError = (error) => unhandled.push(error);
  try {
    work();
    await new Promise((resolve) => setTimeout(resolve, 5));
  } finally {
    config.onUnhandledError = null;
  }
  return unhandled;
}

test(
  'each value is emitted when its permits are granted, and the end costs one more permit',
  marbles(({ limiter, expectObservable }) => {
    expectObservable(fromThrottled('abc', limiter(onePerThree))).toBe('a--b--c--|');
    expectObservable(fromThrottled('abc', limiter(burstOfFive))).toBe('(abc|)');
    expectObservable(fromThrottled('', limiter(onePerThree))).toBe('|');
  }),
);

test(
  'the permit of the end is refunded',
  marbles(async ({ limiter }) => {
    const limited = limiter(burstOfFive);
    fromThrottled('abc', limited).subscribe();
    assert.is(await limited.availablePermits(), 2);
  }),
);

test(
  'permits is what each value costs, of one limit or of several',
  marbles(async ({ limiter, expectObservable }) => {
    const burst = tokenBucket({ permits: 1, interval: 3, burst: 2 });
    expectObservable(fromThrottled('ab', limiter(burst), { permits: 2 })).toBe('a-----b-----|');
    const record = limiter({ requests: onePerThree, tokens: burst });
    const result = fromThrottled('ab', record, { permits: { tokens: 2 } });
    expectObservable(result).toBe('a-----b-----|');
  }),
);

test(
  'nothing is pulled or requested before a subscription, and each subscription iterates anew',
  marbles(({ limiter, expectObservable, flush }) => {
    const limited = limiter(onePerThree);
    const input = watched('ab');
    const result = fromThrottled(input, limited);
    assert.is(input.opened, 0);
    assert.is(limited.stats().calls, 0);
    expectObservable(result).toBe('a--b-----|');
    expectObservable(result).toBe('------a--b--|');
    flush();
    assert.is(input.opened, 2);
  }),
);

test(
  'no more is pulled than was granted',
  marbles(({ limiter, at, flush }) => {
    const input = watched(naturals());
    const result = fromThrottled(input, limiter(onePerThree)).subscribe();
    for (let frame = 0; frame < 10; frame++)
      at(frame + 0.5, () => assert.is(input.pulled, 1 + Math.floor(frame / 3), `frame ${frame}`));
    at(10, () => result.unsubscribe());
    flush();
    assert.is(input.pulled, 4);
    assert.is(input.returned, 1);
  }),
);

test(
  'an input that has ended is not closed',
  marbles(({ limiter }) => {
    const input = watched('ab');
    fromThrottled(input, limiter(burstOfFive)).subscribe().unsubscribe();
    assert.equal([input.pulled, input.returned], [3, 0]);
  }),
);

test(
  'a consumer that unsubscribes closes it once, at once, and pays for the values that it received',
  marbles(async ({ limiter }) => {
    const limited = limiter(burstOfFive);
    const input = watched(naturals());
    const got: number[] = [];
    fromThrottled(input, limited)
      .pipe(take(3))
      .subscribe({
        next: (n) => got.push(n),
        complete: () => got.push(-1),
      })
      .unsubscribe();
    assert.equal(got, [0, 1, 2, -1]);
    assert.equal([input.pulled, input.returned], [3, 1]);
    assert.is(await limited.availablePermits(), 2);
  }),
);

test(
  'a consumer that unsubscribes in mid-emission gets nothing more, and the input is closed',
  marbles(async ({ limiter }) => {
    const limited = limiter(burstOfFive);
    const input = watched('abc');
    const leave = new Subject<void>();
    const got: string[] = [];
    fromThrottled(input, limited)
      .pipe(takeUntil(leave))
      .subscribe((value) => {
        got.push(value);
        if (value === 'b') leave.next();
      });
    assert.equal(got, ['a', 'b']);
    assert.equal([input.pulled, input.returned], [2, 1]);
    assert.is(await limited.availablePermits(), 3);
  }),
);

test(
  'unsubscribing while a value waits cancels its request, and closes the input',
  marbles(({ limiter, expectObservable, flush }) => {
    const limited = limiter(onePerThree);
    const input = watched('abc');
    expectObservable(fromThrottled(input, limited), '----!').toBe('a--b-');
    expectObservable(fromThrottled('x', limited), '-------!').toBe('------x');
    flush();
    assert.equal([input.pulled, input.returned], [2, 1]);
  }),
);

test(
  'an input that ends the subscription inside next() is closed when next() has returned, and its value is not charged',
  marbles(async ({ limiter }) => {
    for (const last of [{ done: false, value: 'a' } as const, { done: true, value: undefined } as const]) {
      const limited = limiter(burstOfFive, { name: `done: ${last.done}` });
      const received: unknown[] = [];
      const returned = sinon.fake(() => ({ done: true as const, value: undefined }));
      let asked = false;
      const input: Iterable<string> = {
        [Symbol.iterator]: () => ({
          next() {
            if (!asked) {
              asked = true;
              return { done: false, value: 'first' };
            }
            leave.next();
            // A running generator cannot be closed.
            assert.is(returned.callCount, 0);
            return last;
          },
          return: returned,
        }),
      };
      const leave = new Subject<void>();
      const subscription = fromThrottled(input, limited)
        .pipe(takeUntil(leave))
        .subscribe({ next: (value) => received.push(value), error: (error) => received.push(error) });
      assert.ok(subscription.closed);
      assert.equal(received, ['first']);
      assert.is(returned.callCount, last.done ? 0 : 1);
      assert.is(await limited.availablePermits(), 4);
    }
  }),
);

function failing(kind: 'next' | 'done' | 'value' | 'no object', reason: Error) {
  const thrower = () => {
    throw reason;
  };
  const last = {
    next: thrower,
    done: () => Object.defineProperty({ value: 'b' }, 'done', { get: thrower }),
    value: () => Object.defineProperty({ done: false }, 'value', { get: thrower }),
    'no object': () => 5,
  }[kind];
  const returned = sinon.fake(() => ({ done: true, value: undefined }));
  const input = {
    [Symbol.iterator]() {
      let calls = 0;
      const next = () => (++calls === 1 ? { done: false, value: 'a' } : last());
      return { next, return: returned };
    },
  } as Iterable<string>;
  return { input, returned };
}

for (const kind of ['next', 'done', 'value', 'no object'] as const)
  test(
    `an input that fails (${kind}) is an error of the stream: it is not closed, and its permit is refunded`,
    marbles(async ({ limiter, expectObservable, flush }) => {
      const reason = new Error('broken');
      const { input, returned } = failing(kind, reason);
      const error =
        kind === 'no object' ? new TypeError('input: expected next() to return an object, got 5') : reason;
      expectObservable(fromThrottled(input, limiter(onePerThree))).toBe('a--#', undefined, error);
      flush();
      assert.is(returned.callCount, 0);
      const limited = limiter(burstOfFive, { name: 'other' });
      fromThrottled(input, limited).subscribe({ error: () => {} });
      assert.is(await limited.availablePermits(), 4);
    }),
  );

test(
  'an input that cannot be opened is an error of the stream, and no permit is requested',
  marbles(({ limiter, expectObservable, flush }) => {
    const limited = limiter(onePerThree);
    const error = new Error('closed today');
    const input: Iterable<string> = {
      [Symbol.iterator]() {
        throw error;
      },
    };
    expectObservable(fromThrottled(input, limited)).toBe('#', undefined, error);
    flush();
    assert.is(limited.stats().calls, 0);
  }),
);

test(
  'unsubscribing before the input is opened, or while it is opened, leaves it closed and unread',
  marbles(({ limiter }) => {
    const limited = limiter(onePerThree);
    const input = watched('abc');
    const leave = new Subject<void>();
    const opening: Iterable<string> = {
      [Symbol.iterator]() {
        leave.next();
        return input[Symbol.iterator]();
      },
    };
    fromThrottled(opening, limited).pipe(takeUntil(leave)).subscribe();
    assert.equal([input.opened, input.pulled, input.returned], [1, 0, 1]);
    assert.is(limited.stats().calls, 0);
  }),
);

test(
  'a value that cannot be granted in time is an error at once, which closes the input and is not charged',
  marbles(({ limiter, expectObservable, flush }) => {
    const limited = limiter(onePerThree);
    const input = watched('abc');
    const error = new AcquireTimeoutError('api', 1, 2, 3);
    expectObservable(fromThrottled(input, limited, { timeout: 2 })).toBe('(a#)', undefined, error);
    expectObservable(fromThrottled('x', limited, { timeout: 3 }), '----!').toBe('---x');
    flush();
    assert.equal([input.pulled, input.returned], [1, 1]);
  }),
);

test(
  'more permits than the limit can grant are an error of each subscription, which closes the input',
  marbles(async ({ limiter, expectObservable, flush }) => {
    const limited = limiter(burstOfFive);
    const input = watched('abc');
    const error = new PermitsExceedLimitError('api', 6, 5);
    expectObservable(fromThrottled(input, limited, { permits: 6 })).toBe('#', undefined, error);
    flush();
    assert.equal([input.pulled, input.returned], [0, 1]);
    assert.is(await limited.availablePermits(), 5);
  }),
);

test(
  'a full queue, or a closed limiter, is an error that closes the input',
  marbles(async ({ limiter, expectObservable, flush }) => {
    const full = limiter(onePerThree, { maxQueue: 1 });
    permits$(full, 1).subscribe();
    permits$(full, 1).subscribe();
    const input = watched('abc');
    expectObservable(fromThrottled(input, full)).toBe('#', undefined, new QueueOverflowError('api', 1));
    flush();
    const closing = limiter(onePerThree);
    const errors: string[] = [];
    fromThrottled(input, closing).subscribe({ error: ({ name }) => errors.push(name) });
    await closing.close();
    assert.equal(errors, ['LimiterClosedError']);
    assert.equal([input.pulled, input.returned], [1, 2]);
  }),
);

test('an error of return() is reported as unhandled', async () => {
  const reason = new Error('will not close');
  const unclosable: Iterable<number> = {
    [Symbol.iterator]: () => ({
      next: () => ({ done: false, value: 1 }),
      return() {
        throw reason;
      },
    }),
  };
  const received: unknown[] = [];
  const observer = {
    next: (n: number) => received.push(n),
    error: (error: Error) => received.push(error.name),
  };
  const run = marbles(({ limiter }) => {
    const subscribe = (result: Observable<number>) => result.subscribe(observer);
    subscribe(fromThrottled(unclosable, limiter(onePerThree))).unsubscribe();
    subscribe(fromThrottled(unclosable, limiter(onePerThree)).pipe(take(1)));
    subscribe(fromThrottled(unclosable, limiter(onePerThree), { timeout: 0 }));
  });
  // RxJS reports errors in a timer, which virtual time would delay.
  const unhandled = await unhandledIn(() => void run());
  assert.equal(received, [1, 1, 1, 'AcquireTimeoutError']);
  assert.is(unhandled.length, 3);
  for (const error of unhandled) assert.is(error, reason);
});

test(
  'an error after the end is ignored',
  marbles(({ limiter }) => {
    const inVain = sinon.fake();
    config.onStoppedNotification = inVain;
    try {
      const leave = new Subject<void>();
      const input: Iterable<string> = {
        [Symbol.iterator]: () => ({
          next() {
            leave.next();
            throw new Error('too late');
          },
        }),
      };
      fromThrottled(input, limiter(onePerThree)).pipe(takeUntil(leave)).subscribe();
      assert.is(inVain.callCount, 0);
    } finally {
      config.onStoppedNotification = null;
    }
  }),
);

test.run();
