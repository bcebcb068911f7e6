import { Subject, take, takeUntil } from 'rxjs';
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  fromThrottled,
  type Limit,
  memoryStore,
  RateLimiter,
  slidingWindow,
  tokenBucket,
} from '../../src/index.ts';
import { answered, lateStore } from '../support/lateStore.ts';
import { assertIdle } from '../support/marbles.ts';
import { until } from '../support/until.ts';
import { byHand, naturals } from './inputs.ts';

const test = suite('fromThrottled, prefetched permits');
const thousand = slidingWindow({ permits: 1_000, interval: 100_000, resolution: 1 });

/** A limiter whose store replies a turn of the event loop later, like Redis. */
function far({ limit = thousand, maxQueue = Infinity }: { limit?: Limit; maxQueue?: number } = {}) {
  return new RateLimiter({ name: 'api', limit, maxQueue, store: lateStore(memoryStore(), 'redis') });
}

/** Asserts that no request waits, and that `permits` are available. */
async function assertLeft(limiter: RateLimiter, permits: number): Promise<void> {
  assertIdle(limiter);
  assert.is(await limiter.availablePermits(), permits);
}

/** A turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('while values arrive at once, the prefetched permits double with every round trip, and none is lost or left', async () => {
  // A pause of a busy machine would look like a slow limit.
  const clock = sinon.useFakeTimers({ toFake: ['performance'] });
  const limiter = far();
  const inLine: number[] = [];
  const got: number[] = [];
  await fromThrottled(naturals(), limiter)
    .pipe(take(500))
    .forEach((n) => {
      got.push(n);
      const { queued, reserved } = limiter.stats();
      inLine.push(queued + reserved);
    });
  assert.equal(
    got,
    Array.from({ length: 500 }, (_, i) => i),
  );
  assert.ok(limiter.stats().calls <= 20, `${limiter.stats().calls} calls`);
  assert.equal(inLine.slice(0, 3), [0, 1, 2]);
  await answered();
  // Before the real time is back, which is ahead by as long as this process has run.
  await assertLeft(limiter, 500);
  clock.restore();
});

test('permits without a measurable wait, and with a maxAge of 0, are prefetched one after the other', async () => {
  const clock = sinon.useFakeTimers({ toFake: ['performance'] });
  const limiter = far();
  const tooMany = new Subject<void>();
  let requested = 0;
  limiter.events$.subscribe(({ type }) => {
    if (type === 'queued' && ++requested > 1_000) tooMany.next();
  });
  let got = 0;
  await fromThrottled(naturals(), limiter, { maxAge: 0 })
    .pipe(take(50), takeUntil(tooMany))
    .forEach(() => void got++);
  clock.restore();
  assert.is(got, 50);
});

test('at most 1024 permits are prefetched', async () => {
  const limiter = far({ limit: slidingWindow({ permits: 1_000_000, interval: 1_000 }) });
  let most = 0;
  await fromThrottled(naturals(), limiter)
    .pipe(take(20_000))
    .forEach(() => {
      const { queued, reserved } = limiter.stats();
      most = Math.max(most, queued + reserved);
    });
  assert.ok(most > 500 && most <= 1024, `${most} in the line`);
});

test('one permit is requested at a time if the store is in this process, or with a timeout', async () => {
  const near = new RateLimiter({ name: 'api', limit: thousand, store: lateStore(memoryStore()) });
  for (const [limiter, timeout] of [
    [near, Infinity],
    [far(), 5_000],
  ] as const) {
    await fromThrottled(naturals(), limiter, { timeout })
      .pipe(take(50))
      .forEach(() => void assertIdle(limiter));
    assert.is(limiter.stats().calls, 50);
  }
});

test('a late value refunds all permits but its own, and then there is one permit at a time', async () => {
  const limiter = far();
  const input = byHand<number>();
  let got = 0;
  const subscription = fromThrottled(input, limiter).subscribe(() => got++);
  await until('the first is pulled', async () => input.pulled === 1, { every: 1 });
  let most = 0;
  while (got < 40) {
    if (input.pulled > got) await input.answer({ done: false, value: got });
    else await turn();
    const { queued, reserved } = limiter.stats();
    most = Math.max(most, queued + reserved);
  }
  assert.ok(most > 5, `${most} in the line`);
  await until('the next is pulled', async () => input.pulled === 41, { every: 0 });
  await turn();
  await turn();
  assertIdle(limiter);
  await answered();
  await assertLeft(limiter, 1_000 - got - 1);
  await input.answer({ done: false, value: got });
  const { queued: one } = limiter.stats();
  assert.equal([got, one], [41, 1]);
  await answered();
  subscription.unsubscribe();
  await answered();
  await assertLeft(limiter, 1_000 - got);
});

test('at the end, or an error, unused permits are refunded before the subscriber is notified', async () => {
  for (const end of ['end', 'error']) {
    const limiter = far();
    const available: Promise<number>[] = [];
    const readAvailable = () => available.push(limiter.availablePermits());
    function* ending() {
      for (let n = 0; n < 100; n++) yield n;
      if (end === 'error') throw new Error('broken');
    }
    fromThrottled(ending(), limiter).subscribe({ complete: readAvailable, error: readAvailable });
    await until('it has ended', async () => available.length > 0, { every: 1 });
    assert.equal(await Promise.all(available), [900]);
    await assertLeft(limiter, 900);
  }
});

test('prefetched permits are not refused while permits are available, whatever maxQueue is', async () => {
  const limiter = far({ maxQueue: 1 });
  let most = 0;
  await fromThrottled(naturals(), limiter)
    .pipe(take(500))
    .forEach(() => {
      const { queued, reserved } = limiter.stats();
      most = Math.max(most, queued + reserved);
    });
  assert.ok(most > 50, `${most} in the line`);
  await answered();
  await assertLeft(limiter, 500);
});

for (const maxQueue of [1, 2, 8]) {
  test(`prefetched permits leave a full queue to other requests: maxQueue ${maxQueue}`, async () => {
    const limiter = far({ limit: tokenBucket({ permits: 2, interval: 1, burst: 300 }), maxQueue });
    let waited = 0;
    let values = 0;
    let others = 0;
    const asked: Promise<unknown>[] = [];
    await fromThrottled(naturals(), limiter)
      .pipe(take(600))
      .forEach(() => {
        waited = Math.max(waited, limiter.stats().reserved);
        // One place of the queue is reserved for requests that are not prefetched.
        if (++values % 7 > 0 || others >= maxQueue - 1) return;
        others++;
        asked.push(limiter.acquire().then(() => others--));
      });
    assert.is(values, 600);
    assert.ok(waited > 0);
    assert.ok(maxQueue === 1 || asked.length > 5, `${asked.length} others`);
    await Promise.all(asked);
    await answered();
    assertIdle(limiter);
  });
}

test('a slow synchronous input does not receive more permits than it uses', async () => {
  // Only the time is faked: turns are those of the real event loop.
  const clock = sinon.useFakeTimers({ toFake: ['performance'] });
  try {
    const limiter = far({ limit: slidingWindow({ permits: 1_000_000, interval: 1_000 }) });
    let most = 0;
    function* slow() {
      for (const n of naturals()) {
        clock.tick(5);
        yield n;
      }
    }
    await fromThrottled(slow(), limiter)
      .pipe(take(60))
      .forEach(() => {
        most = Math.max(most, limiter.stats().queued + limiter.stats().reserved);
      });
    assert.ok(most <= 20, `${most} in the line`);
  } finally {
    clock.restore();
  }
});

test.run();
