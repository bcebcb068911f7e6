import { Subject, VirtualTimeScheduler } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  memoryStore,
  RateLimiter,
  type ThrottleDistributedOptions,
  throttleDistributed,
  tokenBucket,
} from '../../../src/index.ts';
import { answered, lateStore } from '../../support/lateStore.ts';
import { assertIdle } from '../../support/marbles.ts';

const test = suite('throttleDistributed, with an asynchronous store');

/** Values under a bucket of 1 permit per 3 ms and a burst of 4, in virtual time, which advances when it is flushed. */
function arrange(options: Omit<ThrottleDistributedOptions<string, unknown>, 'project'>) {
  const scheduler = new VirtualTimeScheduler();
  const limit = tokenBucket({ permits: 1, interval: 3, burst: 4 });
  const limiter = new RateLimiter({ name: 'api', limit, scheduler, store: lateStore(memoryStore()) });
  const source = new Subject<string>();
  const received: string[] = [];
  const throttled = source.pipe(throttleDistributed<string, unknown>(limiter, options));
  const subscription = throttled.subscribe({
    next: (value) => received.push(value),
    error: ({ name }) => received.push(name),
    complete: () => received.push('complete'),
  });
  const push = async (...values: string[]) => {
    for (const value of values) source.next(value);
    await answered();
  };
  return { scheduler, limiter, source, received, subscription, push };
}

test('completion waits for values without a reply of the store', async () => {
  const { limiter, source, received } = arrange({});
  source.next('a');
  source.complete();
  assert.equal(received, []);
  await answered();
  assert.equal(received, ['a', 'complete']);
  assertIdle(limiter);
});

test('a consumer that unsubscribes before the reply receives nothing, and all is refunded', async () => {
  const { limiter, received, subscription, source } = arrange({});
  for (const value of ['a', 'b', 'c', 'd']) source.next(value);
  // The call goes out at the end of the turn.
  await new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)));
  assert.is(limiter.stats().calls, 1);
  subscription.unsubscribe();
  await answered();
  assert.equal(received, []);
  assert.is(await limiter.availablePermits(), 4);
  assertIdle(limiter);
});

test('a value that was refused in the middle of the queue does not count as waiting', async () => {
  const permits = (value: string) => (value === 'a' || value === 'c' ? 4 : 1);
  const options = { permits, timeout: 10, onTimeout: 'drop', maxQueue: 2, overflow: 'dropOldest' } as const;
  const { scheduler, limiter, source, received, push } = arrange(options);
  await push('a');
  await push('b', 'c');
  // c was too late; d waits with b, e takes the place of b, and f that of d.
  for (const value of ['d', 'e', 'f']) await push(value);
  source.complete();
  scheduler.flush();
  await answered();
  assert.equal(received, ['a', 'e', 'f', 'complete']);
  assertIdle(limiter);
});

test.run();
