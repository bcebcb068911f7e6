import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimiterClosedError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { ControlledLedger, Reply, Store } from '../../src/stores/store.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });

timed('closing refunds reservations, for other limiters of the same limit', async (clock) => {
  const store = memoryStore();
  const [a, b] = [0, 1].map(() => new RateLimiter({ name: 'api', limit, store }));
  await a.acquire(3);
  for (let i = 0; i < 9; i++) fateOf(a.acquire(4));
  await a.close();
  assert.is(await b.availablePermits(), 2);
  await clock.tickAsync(1000);
  assert.is(await b.availablePermits(), 5);
});

for (const [how, leave] of Object.entries({
  closes: (limiter: RateLimiter) => limiter.close(),
  'cancels all of its requests': (_: RateLimiter, controller: AbortController) => controller.abort(),
}))
  timed(`a client that ${how} no longer holds back the only other one`, async (clock) => {
    const store = memoryStore();
    const ten = slidingWindow({ permits: 10, interval: 5000 });
    const [a, b] = ['a', 'b'].map(
      (clientId) => new RateLimiter({ name: 'api', limit: ten, store, clientId }),
    );
    await a.acquire(10);
    const controller = new AbortController();
    for (let i = 0; i < 3; i++) fateOf(a.acquire(1, { signal: controller.signal }));
    const waits = Array.from({ length: 3 }, () => fateOf(b.acquire()));
    await clock.tickAsync(4900);
    assert.is(b.stats().contenders, 2);
    leave(a, controller);
    await clock.tickAsync(300);
    const all = [...waits, ...Array.from({ length: 7 }, () => fateOf(b.acquire()))];
    await clock.tickAsync(1300);
    assert.equal(
      all.filter(({ at }) => at === undefined),
      [],
    );
    await b.close();
  });

for (const how of ['closes', 'cancels'])
  timed(`a limiter that ${how} leaves another one of its client its share`, async (clock) => {
    const store = memoryStore();
    const open = (clientId: string) =>
      new RateLimiter({ name: 'api', limit: tokenBucket({ permits: 100, interval: 1000 }), store, clientId });
    const granted = { a: 0, c: 0 };
    const keepsAsking = (client: 'a' | 'c') => {
      const limiter = open(client);
      const ask = (): Promise<void> =>
        limiter.acquire().then(
          () => {
            granted[client]++;
            return ask();
          },
          () => undefined,
        );
      for (let i = 0; i < 50; i++) void ask();
      return limiter;
    };
    const lasting = [keepsAsking('a'), keepsAsking('c')];
    for (let i = 0; i < 200; i++) {
      const other = open('a');
      const controller = new AbortController();
      for (let j = 0; j < 3; j++) fateOf(other.acquire(1, { signal: controller.signal }));
      await clock.tickAsync(2);
      if (how === 'cancels') controller.abort();
      const closed = other.close();
      await clock.tickAsync(18);
      await closed;
    }
    const { a, c } = granted;
    assert.ok(Math.min(a, c) > 0.45 * (a + c), `${a} and ${c} permits`);
    for (const limiter of lasting) await limiter.close();
  });

timed('closing again is the same as closing once', async () => {
  const limiter = new RateLimiter({ name: 'api', limit });
  fateOf(limiter.acquire(5));
  const waits = fateOf(limiter.acquire());
  await Promise.all([limiter.close(), limiter.close()]);
  await limiter.close();
  assert.instance(waits.reason, LimiterClosedError);
});

timed('closing waits a second at most for a store that does not reply', async (clock) => {
  const inner = memoryStore();
  const silent = { sync: false, reserve: () => undefined };
  const store: Store = { open: (config) => ledgerWith(inner.open(config), { ...silent, take: undefined }) };
  const limiter = new RateLimiter({ name: 'api', limit, store });
  fateOf(limiter.acquire());
  await clock.tickAsync(10);
  const closed = fateOf(limiter.close());
  await clock.tickAsync(2_000);
  assert.is(closed.at, 1_010);
});

timed('tens of thousands of requests are rejected over several turns, before closing ends', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit });
  await limiter.acquire(5);
  const ends: unknown[] = [];
  const waiting = 10_000;
  for (let i = 0; i < waiting; i++)
    limiter.acquire(1, { timeout: 1e9 + i }).catch(({ code }) => ends.push([i, code]));
  const closed = limiter.close().then(() => ends.push('closed'));
  for (let microtasks = 0; microtasks < 10; microtasks++) await Promise.resolve();
  assert.ok(ends.length > 0 && ends.length < waiting / 4, `${ends.length} in one turn`);
  const late = fateOf(limiter.acquire());
  await clock.runAllAsync();
  await closed;
  assert.instance(late.reason, LimiterClosedError);
  const codes = Array.from({ length: waiting }, (_, i) => [i, 'ERR_SLUICE_CLOSED']);
  assert.equal(ends, [...codes, 'closed']);
  assert.is(clock.countTimers(), 0);
});

timed(
  'closing creates one error for all requests: a stack trace for each would block the event loop for seconds',
  async () => {
    const limiter = new RateLimiter({ name: 'api', limit });
    fateOf(limiter.acquire(5));
    const waits = [1, 2, 3].map((permits) => fateOf(limiter.acquire(permits)));
    await limiter.close();
    assert.instance(waits[0].reason, LimiterClosedError);
    for (const { reason } of waits) assert.is(reason, waits[0].reason);
  },
);

timed('a limiter closes itself at the end of the block that uses it', async (clock) => {
  let outside: RateLimiter;
  {
    await using limiter = new RateLimiter({ name: 'api', limit });
    await limiter.acquire(5);
    fateOf(limiter.acquire());
    outside = limiter;
  }
  assert.is(clock.countTimers(), 0);
  assert.instance(await rejection(outside.acquire()), LimiterClosedError);
});

timed('every call on a closed limiter rejects with ERR_SLUICE_CLOSED', async () => {
  const limiter = new RateLimiter({ name: 'api', limit });
  await limiter.close();
  const calls = {
    acquire: () => limiter.acquire(),
    tryAcquire: () => limiter.tryAcquire(),
    decide: () => limiter.decide(),
    availablePermits: () => limiter.availablePermits(),
    getRate: () => limiter.getRate(),
  };
  for (const [name, call] of Object.entries(calls)) {
    const error = await rejection(call());
    assert.instance(error, LimiterClosedError, name);
    assert.is((error as LimiterClosedError).code, 'ERR_SLUICE_CLOSED', name);
    assert.match(error.message, '"api"', name);
  }
});

timed('a request made on closing is refused', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit });
  await limiter.acquire(5);
  const again = fateOf(limiter.acquire().catch(() => limiter.acquire()));
  await limiter.close();
  await clock.tickAsync(0);
  assert.instance(again.reason, LimiterClosedError);
});

/** A store whose replies to `setRate`, `getRate` and `peek` are 300 ms late. */
function slowStore(): Store {
  const memory = memoryStore();
  return {
    open(config) {
      const ledger = memory.open(config);
      const slow =
        <T>(reply: Reply<T>): Reply<T> =>
        (...answer) =>
          void setTimeout(() => reply(...answer), 300);
      return ledgerWith<ControlledLedger, Partial<ControlledLedger>>(ledger, {
        sync: false,
        setRate: (change, reply) => ledger.setRate(change, slow(reply)),
        getRate: (reply) => ledger.getRate(slow(reply)),
        peek: (reply) => ledger.peek(slow(reply)),
      });
    },
  };
}

const calls: Record<string, (limiter: RateLimiter) => Promise<unknown>> = {
  'a change': (limiter) => limiter.setRate(limit),
  'a look at the rate': (limiter) => limiter.getRate(),
  'a look at the permits': (limiter) => limiter.availablePermits(),
};
for (const [what, call] of Object.entries(calls))
  timed(`closing waits for ${what} that is in progress`, async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit, store: slowStore() });
    const changed = fateOf(call(limiter));
    const closed = fateOf(limiter.close());
    await clock.tickAsync(299);
    assert.equal([changed.at, closed.at], [undefined, undefined]);
    await clock.tickAsync(1);
    assert.equal([changed.at, closed.at], [300, 300]);
  });

test.run();
