import { from, Subject, VirtualTimeScheduler } from 'rxjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Limit,
  leakyBucket,
  memoryStore,
  RateLimiter,
  RateLimiterGroup,
  slidingWindow,
  type ThrottleDistributedOptions,
  throttleDistributed,
  tokenBucket,
} from '../../../src/index.ts';
import { answered, lateStore } from '../../support/lateStore.ts';
import { ledgerWith } from '../../support/ledgerWith.ts';
import { assertIdle } from '../../support/marbles.ts';

const test = suite('throttleDistributed, maxQueue with an asynchronous store');

const wide = slidingWindow({ permits: 100, interval: 1_000 });
const overflows = ['error', 'dropOldest', 'dropNewest'] as const;
const five = ['a', 'b', 'c', 'd', 'e'];

/** A limiter in virtual time, which advances when it is flushed, and the results of its pipelines. */
function arrange(limit: Limit = wide, store = lateStore(memoryStore())) {
  const scheduler = new VirtualTimeScheduler();
  const limiter = new RateLimiter({ name: 'api', limit, scheduler, store });
  const received: string[] = [];
  const observer = {
    next: (value: string) => received.push(value),
    error: ({ name }: Error) => received.push(name),
    complete: () => received.push('complete'),
  };
  const dropped: unknown[] = [];
  limiter.events$.subscribe((event) => event.type === 'dropped' && dropped.push(event.value));
  return { scheduler, limiter, received, observer, dropped };
}

for (const overflow of overflows) {
  test(`the same limiter twice in one pipeline loses nothing while permits are free: ${overflow}`, async () => {
    for (const store of [memoryStore(), lateStore(memoryStore())]) {
      const { limiter, received, observer } = arrange(wide, store);
      const source = new Subject<string>();
      const options: ThrottleDistributedOptions<string, unknown> = { maxQueue: 1, overflow };
      source
        .pipe(throttleDistributed(limiter, options), throttleDistributed(limiter, options))
        .subscribe(observer);
      for (const value of five) source.next(value);
      source.complete();
      for (let i = 0; i < 3; i++) await answered();
      assert.equal(received, [...five, 'complete']);
      assertIdle(limiter);
    }
  });
}

const waiting = {
  error: [['a', 'b', 'QueueOverflowError'], []],
  dropOldest: [
    ['a', 'b', 'e', 'complete'],
    ['c', 'd'],
  ],
  dropNewest: [
    ['a', 'b', 'c', 'complete'],
    ['e', 'd'],
  ],
};
for (const project of [undefined, (value: string) => value]) {
  for (const overflow of overflows) {
    test(`values that turn out to have to wait overflow then: ${overflow}${project ? ', project' : ''}`, async () => {
      const limit = tokenBucket({ permits: 1, interval: 3, burst: 2 });
      const { scheduler, limiter, received, observer, dropped } = arrange(limit);
      from(five)
        .pipe(throttleDistributed(limiter, { maxQueue: 1, overflow, project }))
        .subscribe(observer);
      await answered();
      assert.equal(dropped, waiting[overflow][1]);
      scheduler.flush();
      await answered();
      assert.equal(received, waiting[overflow][0]);
      assertIdle(limiter);
    });
  }
}

test('a value overflows at once when others are known to wait', async () => {
  const { scheduler, limiter, received, observer, dropped } = arrange(
    leakyBucket({ permits: 1, interval: 3 }),
  );
  const source = new Subject<string>();
  source.pipe(throttleDistributed(limiter, { maxQueue: 1, overflow: 'dropOldest' })).subscribe(observer);
  source.next('a');
  source.next('b');
  await answered();
  source.next('c');
  assert.equal(dropped, ['b']);
  source.complete();
  scheduler.flush();
  await answered();
  assert.equal(received, ['a', 'c', 'complete']);
  assertIdle(limiter);
});

for (const overflow of ['dropOldest', 'dropNewest'] as const) {
  test(`values of several keys count if they wait: ${overflow}`, async () => {
    const scheduler = new VirtualTimeScheduler();
    const group = new RateLimiterGroup({
      name: 'api',
      limit: leakyBucket({ permits: 1, interval: 3 }),
      scheduler,
      store: lateStore(memoryStore()),
    });
    const received: string[] = [];
    from(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
      .pipe(throttleDistributed(group, { key: (value) => value[0], maxQueue: 2, overflow }))
      .subscribe((value) => received.push(value));
    await answered();
    assert.equal(received, ['a1', 'b1', 'c1']);
    scheduler.flush();
    await answered();
    assert.is(received.length, 5);
    assert.is(received.includes(overflow === 'dropOldest' ? 'a3' : 'a2'), true);
    for (const key of ['a', 'b', 'c']) assertIdle(group.get(key));
  });
}

for (const overflow of ['dropOldest', 'dropNewest'] as const) {
  test(`while the store does not reply, all values count after a while: ${overflow}`, async () => {
    const silent = { ...lateStore(memoryStore()) };
    const { open } = silent;
    silent.open = (config) => ledgerWith(open(config), { reserve: () => {} });
    const { scheduler, limiter, observer, dropped } = arrange(wide, silent);
    const source = new Subject<string>();
    const subscription = source
      .pipe(throttleDistributed(limiter, { maxQueue: 3, overflow }))
      .subscribe(observer);
    for (const value of five) source.next(value);
    await answered();
    scheduler.maxFrames = 200;
    scheduler.schedule(() => {
      source.next('f');
      assert.equal(dropped, []);
    }, 100);
    scheduler.schedule(() => source.next('g'), 101);
    scheduler.flush();
    assert.equal(dropped, [overflow === 'dropOldest' ? 'a' : 'g']);
    subscription.unsubscribe();
  });
}

test.run();
