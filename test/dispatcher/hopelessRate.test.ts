import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Store } from '../../src/stores/store.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';
import { slowLedger } from '../support/slowLedger.ts';

/** A request that can be granted in time under a new limit is not refused, whatever was reserved under the old one. */
interface Case {
  what: string;
  limit: Limit;
  /** The permits of the requests in front of it: those of the first are free. */
  before: readonly number[];
  pause?: number;
  changed: Limit;
  /** When it is granted, in milliseconds. */
  at: number;
}

const cases: Case[] = [
  {
    what: 'a request in front whose reservation is void, and that is too large for the new limit',
    limit: slidingWindow({ permits: 20, interval: 3000 }),
    before: [1, 12],
    pause: 3000,
    changed: slidingWindow({ permits: 10, interval: 60_000 }),
    at: 3000,
  },
  {
    what: 'a reservation that is too large for the new window',
    limit: fixedWindow({ permits: 10, interval: 1000 }),
    before: [10, 7],
    changed: slidingWindow({ permits: 2, interval: 3000, resolution: 1 }),
    at: 4000,
  },
  {
    what: 'reservations closer to each other than the new window allows',
    limit: tokenBucket({ permits: 100, interval: 1000, burst: 1 }),
    before: [1, 1, 1],
    changed: slidingWindow({ permits: 1, interval: 1000, resolution: 1 }),
    at: 1020,
  },
];

for (const { what, limit, before, pause = 0, changed, at } of cases)
  timed(`after a change of the limit, a request is granted behind ${what}`, async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit });
    await limiter.acquire(before[0]);
    if (pause > 0) await limiter.pauseFor(pause);
    for (const permits of before.slice(1)) fateOf(limiter.acquire(permits));
    const fate = fateOf(limiter.acquire(1, { timeout: at + 100 }));
    await clock.tickAsync(0);
    await limiter.setRate(changed);
    await clock.tickAsync(at + 200);
    assert.is(fate.reason, undefined);
    assert.is(fate.at, at);
    await limiter.close();
  });

/** A bucket whose permits are reserved until 20 ms ahead, and then one that holds more than those. */
const leaky = tokenBucket({ permits: 1, interval: 10, burst: 1 });
const large = tokenBucket({ permits: 40, interval: 60_000, burst: 40 });

timed(
  'after a change to a larger bucket, a request is granted behind one that the old bucket delays',
  async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit: leaky });
    await limiter.acquire();
    const before = [fateOf(limiter.acquire()), fateOf(limiter.acquire())];
    await clock.tickAsync(0);
    const changed = limiter.setRate(large);
    // Its moment is that of the last reservation, when the new bucket has permits for the next request too.
    before.push(fateOf(limiter.acquire()));
    const fate = fateOf(limiter.acquire(6, { timeout: 100 }));
    await changed;
    await clock.tickAsync(100);
    assert.is(fate.reason, undefined);
    assert.equal(
      [...before, fate].map(({ at }) => at),
      [10, 20, 20, 20],
    );
    await limiter.close();
  },
);

timed(
  'after another client changes to a larger bucket, a request is granted behind those of the old one',
  async (clock) => {
    const store = memoryStore();
    const [limiter, other] = [leaky, leaky].map((limit) => new RateLimiter({ name: 'api', limit, store }));
    await limiter.acquire();
    fateOf(limiter.acquire());
    fateOf(limiter.acquire());
    await clock.tickAsync(0);
    await other.setRate(large);
    // The limiter receives the change with the next reply.
    await limiter.decide();
    await clock.tickAsync(0);
    const fate = fateOf(limiter.acquire(6, { timeout: 100 }));
    await clock.tickAsync(100);
    assert.is(fate.reason, undefined);
    assert.is(fate.at, 20);
    await limiter.close();
    await other.close();
  },
);

for (const [what, limit, before, changed, at] of [
  [
    'made at the old rate',
    tokenBucket({ permits: 1, interval: 1000, burst: 1 }),
    [1, 1, 1],
    tokenBucket({ permits: 10, interval: 3000, burst: 1 }),
    1300,
  ],
  [
    'of more permits than the new burst',
    tokenBucket({ permits: 10, interval: 3000, burst: 10 }),
    [10, 5],
    tokenBucket({ permits: 10, interval: 1000, burst: 1 }),
    1500,
  ],
] as const)
  timed(
    `just after a change to a faster bucket, a request is granted behind reservations ${what}`,
    async (clock) => {
      const limiter = new RateLimiter({ name: 'api', limit });
      await limiter.acquire(before[0]);
      for (const permits of before.slice(1)) fateOf(limiter.acquire(permits));
      await clock.tickAsync(0);
      const change = limiter.setRate(changed);
      const fate = fateOf(limiter.acquire(1, { timeout: at + 50 }));
      await change;
      await clock.tickAsync(at + 200);
      assert.is(fate.reason, undefined);
      assert.is(fate.at, at);
      await limiter.close();
    },
  );

timed(
  'after two changes in a millisecond, requests that only the first would grant delay none',
  async (clock) => {
    const limit = tokenBucket({ permits: 1, interval: 100, burst: 1 });
    const limiter = new RateLimiter({ name: 'api', limit });
    await limiter.acquire();
    fateOf(limiter.acquire());
    for (const timeout of [3500, 500]) fateOf(limiter.acquire(1, { timeout }));
    await clock.tickAsync(1);
    const first = limiter.setRate(fixedWindow({ permits: 10, interval: 1000 }));
    fateOf(limiter.acquire(1, { timeout: 1500 }));
    await Promise.all([first, limiter.setRate(tokenBucket({ permits: 2, interval: 3000, burst: 1 }))]);
    await clock.tickAsync(1);
    const fate = fateOf(limiter.acquire(1, { timeout: 6000 }));
    await clock.tickAsync(6000);
    assert.is(fate.reason, undefined);
    // The two before it are granted at 100 and 1,600.
    assert.is(fate.at, 3100);
    await limiter.close();
  },
);

timed('while a change of the limit is on its way, no request is refused for the old limit', async (clock) => {
  const inner = memoryStore();
  const store: Store = {
    open(config) {
      const ledger = inner.open(config);
      const setRate: typeof ledger.setRate = (change, reply) =>
        void setTimeout(() => ledger.setRate(change, reply), 2);
      const { sync, reserve, refund } = slowLedger(ledger, { there: 2, back: 2 });
      return ledgerWith(ledger, { sync, reserve, refund, setRate });
    },
  };
  const [slow, fast] = [1, 10].map((permits) => tokenBucket({ permits, interval: 1000, burst: 1 }));
  const limiter = new RateLimiter({ name: 'api', limit: slow, store });
  fateOf(limiter.acquire());
  fateOf(limiter.acquire());
  await clock.tickAsync(10);
  const change = limiter.setRate(fast);
  const fate = fateOf(limiter.acquire(1, { timeout: 1500 }));
  await clock.tickAsync(1500);
  await change;
  assert.is(fate.reason, undefined);
  assert.ok(fate.at! < 1200, `${fate.at}`);
  fateOf(limiter.close());
  await clock.tickAsync(10);
});

test.run();
