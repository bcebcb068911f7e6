import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';

const open = () => new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 5, interval: 1000 }) });

/** A signal that counts its listeners. */
function counting() {
  const controller = new AbortController();
  const { signal } = controller;
  const listens = { added: 0, removed: 0 };
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listens.added++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listens.removed++;
    removeEventListener.apply(signal, args);
  };
  return { controller, signal, listens };
}

timed('an aborted signal rejects at once, and charges nothing', async () => {
  const limiter = open();
  const { controller, signal, listens } = counting();
  const reason = new Error('not needed any more');
  controller.abort(reason);
  assert.is(await rejection(limiter.acquire(1, { signal })), reason);
  assert.is(await rejection(limiter.tryAcquire(1, { signal })), reason);
  assert.equal(listens, { added: 0, removed: 0 });
  assert.is(await limiter.availablePermits(), 5);
});

timed('a signal cancels a reserved request, with its reason', async (clock) => {
  const limiter = open();
  await limiter.acquire(5);
  const { controller, signal, listens } = counting();
  const fate = fateOf(limiter.acquire(1, { signal }));
  await clock.tickAsync(400);
  assert.is(limiter.stats().reserved, 1);
  controller.abort('enough');
  await clock.tickAsync(0);
  assert.equal([fate.at, fate.reason], [400, 'enough' as never]);
  assert.equal(listens, { added: 1, removed: 1 });
  assert.is(clock.countTimers(), 0);
  await clock.tickAsync(600);
  assert.is(await limiter.availablePermits(), 5);
});

timed('a signal cancels a queued request, and the others stay', async (clock) => {
  const limiter = open();
  const fates = Array.from({ length: 40 }, () => fateOf(limiter.acquire()));
  const { controller, signal, listens } = counting();
  const cancelled = fateOf(limiter.acquire(1, { signal }));
  const last = fateOf(limiter.acquire());
  assert.ok(limiter.stats().queued >= 2);
  controller.abort();
  await clock.tickAsync(20_000);
  assert.is(cancelled.reason?.name, 'AbortError');
  assert.equal(listens, { added: 1, removed: 1 });
  assert.equal(times([...fates.slice(-1), last]), [7000, 8000]);
});

timed('a signal that aborts after the grant changes nothing', async (clock) => {
  const limiter = open();
  const { controller, signal, listens } = counting();
  const atOnce = await limiter.acquire(4, { signal });
  assert.equal(listens, { added: 0, removed: 0 });
  const waits = fateOf(limiter.acquire(2, { signal }));
  await clock.tickAsync(1000);
  controller.abort();
  assert.equal([atOnce.permits, waits.value?.permits], [4, 2]);
  assert.equal(listens, { added: 1, removed: 1 });
  assert.is(await limiter.availablePermits(), 3);
});

timed('no listener is left, however a request ends', async (clock) => {
  const limiter = open();
  const { signal, listens } = counting();
  const options = { signal };
  await limiter.acquire(5, options);
  fateOf(limiter.acquire(1, { signal, timeout: 100 }));
  fateOf(limiter.acquire(1, options));
  for (let i = 0; i < 4; i++) fateOf(limiter.acquire(1, { signal, timeout: 3000 }));
  await clock.tickAsync(2000);
  fateOf(limiter.acquire(5, options));
  fateOf(limiter.tryAcquire(1, options));
  await limiter.close();
  fateOf(limiter.acquire(1, options));
  await clock.tickAsync(0);
  assert.is(listens.removed, listens.added);
  assert.ok(listens.added >= 4);
});

timed('a request that times out is not cancelled by its signal as well', async (clock) => {
  const limiter = open();
  await limiter.acquire(5);
  const { controller, signal } = counting();
  const fate = fateOf(limiter.acquire(1, { signal, timeout: 100 }));
  await clock.tickAsync(0);
  controller.abort();
  await clock.tickAsync(0);
  assert.is(fate.reason?.name, 'AcquireTimeoutError');
});

timed('many requests with one signal add one listener, and all are cancelled', async () => {
  const limiter = open();
  const { controller, signal, listens } = counting();
  await limiter.acquire(5);
  const waiting = Array.from({ length: 20 }, () => rejection(limiter.acquire(1, { signal })));
  assert.equal(listens, { added: 1, removed: 0 });
  const reason = new Error('shutdown');
  controller.abort(reason);
  for (const error of await Promise.all(waiting)) assert.is(error, reason);
  assert.equal(listens, { added: 1, removed: 1 });
});

test.run();
