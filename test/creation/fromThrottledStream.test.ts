import { config, take } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromThrottled, RateLimiter, slidingWindow } from '../../src/index.ts';
import { assertIdle } from '../support/marbles.ts';
import { until } from '../support/until.ts';

const test = suite('fromThrottled, a ReadableStream');
const limit = slidingWindow({ permits: 5, interval: 100_000, resolution: 1 });

/** An unbuffered stream that the test fills, its limiter, and the notifications. */
function arrange({ cancel }: { cancel?: () => Promise<void> } = {}) {
  const limiter = new RateLimiter({ name: 'api', limit });
  const asked = { pulled: 0, cancelled: 0 };
  let controller!: ReadableStreamDefaultController<string>;
  const stream = new ReadableStream<string>(
    {
      start(given) {
        controller = given;
      },
      pull() {
        asked.pulled++;
      },
      cancel() {
        asked.cancelled++;
        return cancel?.();
      },
    },
    { highWaterMark: 0 },
  );
  const said: unknown[] = [];
  const result = fromThrottled(stream, limiter);
  const observer = {
    next: (value: string) => said.push(value),
    error: (error: Error) => said.push(error),
    complete: () => said.push('complete'),
  };
  return { limiter, stream, controller, asked, said, result, observer };
}

/** Resolves when streams have delivered all pending notifications. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

async function assertLeft(limiter: RateLimiter, permits: number): Promise<void> {
  assert.is(await limiter.availablePermits(), permits);
  assertIdle(limiter);
}

test('it is read one value at a time, from the subscription on, and unlocked at its end', async () => {
  const { limiter, stream, controller, asked, said, result, observer } = arrange();
  await settled();
  assert.not(stream.locked);
  assert.is(asked.pulled, 0);
  result.subscribe(observer);
  await settled();
  assert.ok(stream.locked);
  assert.is(asked.pulled, 1);
  controller.enqueue('a');
  await settled();
  assert.equal(said, ['a']);
  assert.is(asked.pulled, 2);
  controller.close();
  await settled();
  assert.equal(said, ['a', 'complete']);
  assert.not(stream.locked);
  assert.is(asked.cancelled, 0);
  await assertLeft(limiter, 4);
});

test('its error is the error of the result, and it is unlocked', async () => {
  const { limiter, stream, controller, asked, said, result, observer } = arrange();
  result.subscribe(observer);
  const error = new Error('broken');
  controller.error(error);
  await settled();
  assert.is(said[0], error);
  assert.not(stream.locked);
  assert.is(asked.cancelled, 0);
  await assertLeft(limiter, 5);
});

test('unsubscribing during a read cancels it at once, and unlocks it', async () => {
  const { limiter, stream, asked, said, result, observer } = arrange();
  const subscription = result.subscribe(observer);
  await settled();
  subscription.unsubscribe();
  assert.is(asked.cancelled, 1);
  assert.not(stream.locked);
  await settled();
  assert.equal(said, []);
  assert.is(asked.cancelled, 1);
  await assertLeft(limiter, 5);
});

test('a consumer that unsubscribes cancels it, and unlocks it', async () => {
  const { limiter, stream, controller, asked, said, result, observer } = arrange();
  result.pipe(take(1)).subscribe(observer);
  controller.enqueue('a');
  await settled();
  assert.equal(said, ['a', 'complete']);
  assert.equal(asked, { pulled: 0, cancelled: 1 });
  assert.not(stream.locked);
  await assertLeft(limiter, 4);
});

test('a timeout cancels it', async () => {
  const { limiter, stream, asked, said, observer } = arrange();
  await limiter.acquire(5);
  fromThrottled(stream, limiter, { timeout: 10 }).subscribe(observer);
  assert.is((said[0] as Error).name, 'AcquireTimeoutError');
  assert.equal(asked, { pulled: 0, cancelled: 1 });
  assert.not(stream.locked);
});

test('a locked stream is an error of the subscription, and stays locked', async () => {
  const { limiter, stream, asked, said, result, observer } = arrange();
  const reader = stream.getReader();
  result.subscribe(observer);
  assert.instance(said[0], TypeError);
  assert.ok(stream.locked);
  assert.is(asked.cancelled, 0);
  assert.is(limiter.stats().calls, 0);
  reader.releaseLock();
});

test('an error of cancel() is reported as unhandled, and the stream is unlocked', async () => {
  const reason = new Error('will not close');
  const unhandled: unknown[] = [];
  config.onUnhandledError = (error) => unhandled.push(error);
  try {
    const { stream, result, observer } = arrange({ cancel: () => Promise.reject(reason) });
    result.subscribe(observer).unsubscribe();
    assert.not(stream.locked);
    await until('the error is reported', async () => unhandled.length > 0);
    assert.equal(unhandled, [reason]);
  } finally {
    config.onUnhandledError = null;
  }
});

test.run();
