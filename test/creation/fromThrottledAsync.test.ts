import { Readable } from 'node:stream';
import { config, Subject, take, takeUntil } from 'rxjs';
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  fromThrottled,
  type Limit,
  leakyBucket,
  memoryStore,
  RateLimiter,
  slidingWindow,
} from '../../src/index.ts';
import { answered, lateStore } from '../support/lateStore.ts';
import { assertIdle } from '../support/marbles.ts';
import { until } from '../support/until.ts';
import { type ByHand, byHand, naturals, settled, watchedAsync } from './inputs.ts';

const test = suite('fromThrottled, an async iterable');
const five = slidingWindow({ permits: 5, interval: 100_000, resolution: 1 });

/** A subscription to an input whose results the test sends, and its notifications. */
function arrange(limit: Limit = five, timeout = Infinity, maxAge?: number) {
  const limiter = new RateLimiter({ name: 'api', limit });
  const input = byHand<string>();
  const said: unknown[] = [];
  const subscription = fromThrottled(input, limiter, { timeout, maxAge }).subscribe({
    next: (value) => said.push(value),
    error: (error) => said.push(error),
    complete: () => said.push('complete'),
  });
  return { limiter, input, said, subscription };
}

async function assertLeft(limiter: RateLimiter, permits: number): Promise<void> {
  assert.is(await limiter.availablePermits(), permits);
  assertIdle(limiter);
}

test('the next value is pulled after the last one was emitted, and has its own permit', async () => {
  const { limiter, input, said } = arrange();
  assert.is(input.pulled, 1);
  await input.answer({ done: false, value: 'a' });
  assert.equal(said, ['a']);
  assert.is(input.pulled, 2);
  await assertLeft(limiter, 3);
  await input.answer({ done: true, value: undefined });
  assert.equal(said, ['a', 'complete']);
  assert.is(input.returned, 0);
  await assertLeft(limiter, 4);
});

test('an error of the input is an error of the stream, and refunds the permit', async () => {
  const { limiter, input, said } = arrange();
  const error = new Error('broken');
  await input.fail(error);
  assert.is(said[0], error);
  assert.is(input.returned, 0);
  await assertLeft(limiter, 5);
});

test('unsubscribing during a pull closes the input at once, and refunds its permit', async () => {
  for (const late of ['value', 'end', 'error']) {
    const inVain = sinon.fake();
    config.onStoppedNotification = inVain;
    try {
      const { limiter, input, said, subscription } = arrange();
      await input.answer({ done: false, value: 'a' });
      subscription.unsubscribe();
      subscription.unsubscribe();
      assert.is(input.returned, 1);
      await assertLeft(limiter, 4);
      if (late === 'error') await input.fail(new Error('too late'));
      else await input.answer({ done: late === 'end', value: 'b' });
      assert.equal(said, ['a']);
      assert.equal([input.pulled, input.returned], [2, 1]);
      await assertLeft(limiter, 4);
      await new Promise((resolve) => setTimeout(resolve, 2));
      assert.is(inVain.callCount, 0);
    } finally {
      config.onStoppedNotification = null;
    }
  }
});

test('the permit of a missing value is refunded before the subscriber is notified of the end', async () => {
  for (const end of [
    (input: ByHand<string>) => input.answer({ done: true, value: undefined }),
    (input: ByHand<string>) => input.fail('broken'),
  ]) {
    const limiter = new RateLimiter({ name: 'api', limit: five });
    await limiter.acquire(4);
    const input = byHand<string>();
    const taken: Promise<boolean>[] = [];
    const take = () => taken.push(limiter.tryAcquire());
    fromThrottled(input, limiter).subscribe({ complete: take, error: take });
    await end(input);
    assert.equal(await Promise.all(taken), [true]);
  }
});

test('an input that ends the subscription inside next() is closed', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  const leave = new Subject<void>();
  const calls: string[] = [];
  const input: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next() {
        calls.push('next');
        leave.next();
        calls.push('asked');
        return new Promise(() => {});
      },
      async return() {
        calls.push('return');
        return { done: true, value: undefined };
      },
    }),
  };
  fromThrottled(input, limiter).pipe(takeUntil(leave)).subscribe();
  assert.equal(calls, ['next', 'asked', 'return']);
  await assertLeft(limiter, 5);
});

test('unsubscribing during a call to the store pulls nothing, and refunds its permits', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: five, store: lateStore(memoryStore()) });
  const input = watchedAsync('abc');
  const subscription = fromThrottled(input, limiter).subscribe();
  await new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)));
  assert.is(limiter.stats().calls, 1);
  subscription.unsubscribe();
  await answered();
  assert.equal([input.opened, input.pulled, input.returned], [1, 0, 1]);
  await assertLeft(limiter, 5);
});

test('values wait for their permits, and unsubscribing while one waits leaves no timer', async () => {
  const clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  try {
    const { limiter, input, said, subscription } = arrange(leakyBucket({ permits: 1, interval: 100 }));
    await input.answer({ done: false, value: 'a' });
    clock.tick(99);
    assert.is(input.pulled, 1);
    clock.tick(1);
    assert.is(input.pulled, 2);
    await input.answer({ done: false, value: 'b' });
    assert.equal(said, ['a', 'b']);
    assert.is(clock.countTimers(), 1);
    subscription.unsubscribe();
    assert.is(clock.countTimers(), 0);
    assert.equal([input.pulled, input.returned], [2, 1]);
    assertIdle(limiter);
  } finally {
    clock.restore();
  }
});

test('a timeout bounds the wait for permits, not the wait for the input; it closes the input', async () => {
  const clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  try {
    const { input, said } = arrange(leakyBucket({ permits: 1, interval: 100 }), 50, 60);
    clock.tick(60);
    await input.answer({ done: false, value: 'a' });
    clock.tick(50);
    await input.answer({ done: false, value: 'b' });
    await settled();
    assert.equal(said.slice(0, 2), ['a', 'b']);
    const [, , error] = said as [string, string, { name: string; timeout: number }];
    assert.equal([error.name, error.timeout], ['AcquireTimeoutError', 50]);
    assert.equal([input.pulled, input.returned], [2, 1]);
    assert.is(clock.countTimers(), 0);
  } finally {
    clock.restore();
  }
});

test('an error or an invalid result of next() is an error of the stream', async () => {
  const reason = new Error('broken');
  const inputs: [next: () => unknown, message: string][] = [
    [
      () => {
        throw reason;
      },
      'broken',
    ],
    [() => Promise.resolve('a'), 'input: expected next() to return an object, got "a"'],
    [() => undefined, 'input: expected next() to return an object, got undefined'],
  ];
  for (const [next, message] of inputs) {
    const limiter = new RateLimiter({ name: 'api', limit: five });
    const returned = sinon.fake();
    const input = { [Symbol.asyncIterator]: () => ({ next, return: returned }) } as AsyncIterable<string>;
    const said: string[] = [];
    fromThrottled(input, limiter).subscribe({ error: (error) => said.push(error.message) });
    await settled();
    assert.equal(said, [message]);
    assert.is(returned.callCount, 0);
    await assertLeft(limiter, 5);
  }
});

test('a rejection or error of return() is reported as unhandled', async () => {
  const reason = new Error('will not close');
  const unhandled: unknown[] = [];
  config.onUnhandledError = (error) => unhandled.push(error);
  try {
    for (const close of [
      () => Promise.reject(reason),
      () => {
        throw reason;
      },
    ]) {
      const limiter = new RateLimiter({ name: 'api', limit: five });
      const input: AsyncIterable<string> = {
        [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}), return: close }),
      };
      fromThrottled(input, limiter).subscribe().unsubscribe();
    }
    await until('both are reported', async () => unhandled.length === 2);
    for (const error of unhandled) assert.is(error, reason);
  } finally {
    config.onUnhandledError = null;
  }
});

test('a generator runs its finally block, and an input without return() is left as it is', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  const said: (number | string)[] = [];
  async function* pages() {
    try {
      yield* naturals();
    } finally {
      said.push('cleaned up');
    }
  }
  await fromThrottled(pages(), limiter)
    .pipe(take(2))
    .forEach((n) => void said.push(n));
  await settled();
  assert.equal(said, [0, 1, 'cleaned up']);
  const endless = { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 'a' }) }) };
  const left = fromThrottled(endless as AsyncIterable<string>, limiter).pipe(take(1));
  await left.forEach((value) => void said.push(value));
  assert.is(said.at(-1), 'a');
  await assertLeft(limiter, 2);
});

test('a Node stream is destroyed when its consumer unsubscribes', async () => {
  const limiter = new RateLimiter({ name: 'api', limit: five });
  const stream = Readable.from(naturals());
  const got: number[] = [];
  await fromThrottled(stream, limiter)
    .pipe(take(3))
    .forEach((n) => void got.push(n));
  await new Promise(setImmediate);
  assert.equal(got, [0, 1, 2]);
  assert.ok(stream.destroyed);
  await assertLeft(limiter, 2);
});

test.run();
