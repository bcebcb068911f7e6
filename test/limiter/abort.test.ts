import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { permits$ } from '../../src/creation/permits.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { ControlledLedger, Store } from '../../src/stores/store.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';

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

/** A limiter on a store that replies at once, and how many calls that has received. */
function counted(permits: number) {
  const calls = { reserve: 0, refund: 0 };
  const { open } = memoryStore();
  const store: Store = {
    open(config) {
      const ledger = open(config) as ControlledLedger;
      return ledgerWith<ControlledLedger, Partial<ControlledLedger>>(ledger, {
        reserve(...args) {
          calls.reserve++;
          ledger.reserve(...args);
        },
        refund(...args) {
          calls.refund++;
          ledger.refund(...args);
        },
      });
    },
  };
  const limit = slidingWindow({ permits, interval: 1000 });
  return { limiter: new RateLimiter({ name: 'api', limit, store }), calls };
}

timed('a signal of many requests of different costs makes no call for each of them', async (clock) => {
  const { limiter, calls } = counted(1_000);
  const { controller, signal } = counting();
  const fates = Array.from({ length: 3_000 }, (_, i) =>
    fateOf(limiter.acquire(1 + (i % 2), i % 3 === 0 ? { signal, timeout: 100_000 + i } : { signal })),
  );
  const { reserved, queued } = limiter.stats();
  assert.ok(reserved > 1 && queued > 2_000, `${reserved} reserved, ${queued} queued`);
  const before = { ...calls };
  controller.abort('shutdown');
  assert.is(calls.reserve - before.reserve, 0);
  assert.is(calls.refund - before.refund, 1);
  const { reserved: left, queued: still } = limiter.stats();
  assert.equal([left, still], [0, 0]);
  await clock.tickAsync(0);
  assert.is(fates.filter(({ reason }) => (reason as unknown) === 'shutdown').length, reserved + queued);
});

timed('requests behind those that a signal cancels are granted before abort() returns', async () => {
  const [one, other] = [counted(5), counted(5)];
  const { controller, signal } = counting();
  const granted: string[] = [];
  for (const [name, { limiter }] of Object.entries({ one, other })) {
    await limiter.acquire(4);
    for (let i = 0; i < 3; i++)
      limiter.acquire(4 + (i % 2), { signal }).catch(() => granted.push('rejected'));
    permits$(limiter).subscribe(() => granted.push(name));
  }
  assert.equal(granted, []);
  controller.abort();
  assert.equal(granted, ['one', 'other']);
  for (const { calls } of [one, other]) assert.is(calls.refund, 1);
});

timed(
  'a request that is made while a signal cancels others is granted after the last of them has left',
  async () => {
    const { limiter, calls } = counted(5);
    const { controller, signal } = counting();
    await limiter.acquire(5);
    const seen: unknown[] = [];
    for (let i = 0; i < 4; i++) limiter.acquire(1 + (i % 2), { signal }).catch(() => {});
    let isFirst = true;
    limiter.events$.subscribe(({ type }) => {
      seen.push(type);
      if (type !== 'cancelled' || !isFirst) return;
      isFirst = false;
      permits$(limiter).subscribe();
    });
    const before = calls.reserve;
    controller.abort();
    assert.equal(seen.slice(0, 5), ['cancelled', 'queued', 'cancelled', 'cancelled', 'cancelled']);
    assert.is(calls.reserve - before, 1);
    await limiter.close();
  },
);

timed('a signal that aborts inside the abort of another one cancels its requests as well', async () => {
  const [outer, inner] = [counting(), counting()];
  const limiter = open();
  await limiter.acquire(5);
  const errors: unknown[] = [];
  const ask = ({ signal }: AbortController) =>
    permits$(limiter, 1, { signal }).subscribe({
      error: (reason) => {
        errors.push(reason);
        if (reason === 'outer') inner.controller.abort('inner');
      },
    });
  for (const { controller } of [outer, inner, outer, inner]) ask(controller);
  let last = false;
  permits$(limiter, 5).subscribe({
    next: () => {
      last = true;
    },
    error: () => {},
  });
  outer.controller.abort('outer');
  assert.equal(errors, ['outer', 'inner', 'inner', 'outer']);
  assert.equal(limiter.stats().reserved + limiter.stats().queued, 1);
  assert.is(last, false);
  assert.equal([outer.listens.removed, inner.listens.removed], [1, 1]);
  await limiter.close();
});

test.run();
