import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Store } from '../../src/stores/store.ts';
import { rejection } from '../support/badInput.ts';
import { timed } from '../support/fakeTime.ts';
import { growth } from '../support/growth.ts';
import { ledgerWith } from '../support/ledgerWith.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });

/** A store that never replies to a reserve call. */
const silent: Store = {
  open: (config) => ledgerWith(memoryStore().open(config), { sync: false, reserve: () => {} }),
};

timed(
  'a time-out has no stack, as its timer knows no caller, and a refusal at once has one',
  async (clock) => {
    const { stackTraceLimit } = Error;
    const late = rejection(
      new RateLimiter({ name: 'api', limit, store: silent }).acquire(1, { timeout: 500 }),
    );
    await clock.tickAsync(1000);
    const error = (await late) as Error;
    assert.instance(error, AcquireTimeoutError);
    assert.is(error.stack, `AcquireTimeoutError: ${error.message}`);
    assert.is(Error.stackTraceLimit, stackTraceLimit);

    const limiter = new RateLimiter({ name: 'api', limit });
    await limiter.acquire(5);
    assert.match(
      ((await rejection(limiter.acquire(1, { timeout: 500 }))) as Error).stack!,
      'timeoutStack.test',
    );
  },
);

timed('a time-out is reported where the limit of stack traces cannot be changed', async (clock) => {
  const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')!;
  Object.defineProperty(Error, 'stackTraceLimit', { ...before, writable: false });
  try {
    const late = rejection(
      new RateLimiter({ name: 'api', limit, store: silent }).acquire(1, { timeout: 500 }),
    );
    await clock.tickAsync(1000);
    assert.instance(await late, AcquireTimeoutError);
  } finally {
    Object.defineProperty(Error, 'stackTraceLimit', before);
  }
});

timed('time-outs of one turn cost the same however many there are', (clock) => {
  const ratio = growth([5_000, 40_000], (count) => {
    const limiter = new RateLimiter({ name: 'api', limit, store: silent });
    for (let i = 0; i < count; i++) limiter.acquire(1, { timeout: 500 }).catch(() => {});
    return () => clock.tick(1000);
  });
  assert.ok(ratio < 24, `eight times as many took ${ratio.toFixed(1)} times as long`);
});

test.run();
