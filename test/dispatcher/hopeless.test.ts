import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Store } from '../../src/stores/store.ts';
import { cases } from '../support/cases.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { growth } from '../support/growth.ts';
import { ledgerWith } from '../support/ledgerWith.ts';
import { recorder } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';
import { writtenLine } from './scriptedReplies.ts';

const rate = { permits: 10, interval: 1000 };
const trip = { there: 2, back: 2 };

function farStore(): Store {
  const inner = memoryStore();
  return {
    open(config) {
      const ledger = inner.open(config);
      return ledgerWith(ledger, slowLedger(ledger, trip));
    },
  };
}

const stores = [
  ['in the turn of the call, with the store in this process', 0, memoryStore],
  ['with the first reply, over a wire', trip.there + trip.back, farStore],
] as const;

for (const [when, answer, store] of stores) {
  for (const [kind, limit, served] of [
    ['token bucket', tokenBucket(rate), 25],
    ['sliding window', slidingWindow({ ...rate, resolution: 1 }), 20],
  ] as [string, Limit, number][])
    timed(
      `of 100 requests with a timeout of 1.5 s, the hopeless ones are denied ${when}: ${kind}`,
      async (clock) => {
        const limiter = new RateLimiter({ name: 'api', limit, store: store() });
        const events: string[] = [];
        limiter.events$.subscribe(({ type }) => events.push(type));
        const fates = Array.from({ length: 100 }, () => fateOf(limiter.acquire(1, { timeout: 1500 })));
        await clock.tickAsync(answer);
        const refused = fates.slice(served);
        assert.ok(refused.every(({ reason, at }) => reason instanceof AcquireTimeoutError && at === answer));
        assert.is(events.filter((type) => type === 'timeout').length, 100 - served);
        assert.is(events.filter((type) => type === 'queued').length, 100);
        assert.ok(events.indexOf('queued') < events.indexOf('timeout'));
        await clock.tickAsync(3000);
        // Over a wire, the last moment is two milliseconds later than in process, and so is its reply.
        const tooLate = answer > 0 && limit.kind === 'tokenBucket' ? 1 : 0;
        assert.is(fates.filter(({ value }) => value).length, served - tooLate);
        const free = fateOf(limiter.availablePermits());
        await clock.tickAsync(answer);
        assert.is(free.value, 10);
      },
    );

  timed(`an earlier refund does not delay the denial of hopeless requests ${when}`, async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit: tokenBucket(rate), store: store() });
    const taken = fateOf(limiter.acquire());
    await clock.tickAsync(answer);
    void taken.value!.refund();
    await clock.tickAsync(1000);
    const fates = Array.from({ length: 100 }, () => fateOf(limiter.acquire(1, { timeout: 1500 })));
    await clock.tickAsync(answer);
    assert.is(fates.filter(({ reason }) => reason instanceof AcquireTimeoutError).length, 75);
  });

  timed(`a request behind one that uses up its time is denied ${when}`, async (clock) => {
    const limiter = new RateLimiter({
      name: 'api',
      limit: leakyBucket({ permits: 1, interval: 60_000 }),
      store: store(),
    });
    const taken = fateOf(limiter.acquire());
    await clock.tickAsync(answer);
    const [first, second] = [65_000, 65_000].map((timeout) => fateOf(limiter.acquire(1, { timeout })));
    const asked = performance.now();
    await clock.tickAsync(answer);
    assert.is(second.at, asked + answer);
    assert.instance(second.reason, AcquireTimeoutError);
    await clock.tickAsync(70_000);
    assert.ok(taken.value && first.value);
  });
}

timed('denied and cancelled requests do not count for the requests behind them', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: tokenBucket(rate) });
  for (let i = 0; i < 10; i++) await limiter.acquire();
  const leaving = new AbortController();
  const fates = [
    fateOf(limiter.acquire(1, { timeout: 1000 })),
    fateOf(limiter.acquire(10, { timeout: 1000 })),
    fateOf(limiter.acquire(8, { timeout: 1000, signal: leaving.signal })),
    fateOf(limiter.acquire(2, { timeout: 1050 })),
  ];
  leaving.abort();
  fates.push(fateOf(limiter.acquire(8, { timeout: 1000 })));
  await clock.tickAsync(0);
  assert.equal(
    fates.map(({ at }) => at),
    [undefined, 0, 0, 0, undefined],
  );
  await clock.tickAsync(2000);
  assert.equal(
    fates.map(({ value }) => value?.permits),
    [1, undefined, undefined, undefined, 8],
  );
});

timed('requests that are granted at their deadlines count for the request behind them', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: tokenBucket(rate) });
  for (let i = 0; i < 10; i++) await limiter.acquire();
  const fates = [100, 200, 300, 400, 500, 599].map((timeout) => fateOf(limiter.acquire(1, { timeout })));
  await clock.tickAsync(0);
  assert.equal(
    fates.map(({ at }) => at),
    [undefined, undefined, undefined, undefined, undefined, 0],
  );
  await clock.tickAsync(500);
  assert.is(fates.filter(({ value }) => value).length, 5);
});

timed(
  'a queued request is denied at once when another client has delayed it beyond its deadline',
  (clock) => {
    const { line, answer } = writtenLine();
    const recorded = recorder<string>();
    line.ask(recorded, [1000], Infinity, 'first');
    for (const name of ['second', 'third']) line.ask(recorded, [1000], 3000, name);
    clock.tick(0);
    answer([[1, 500]]);
    clock.tick(500);
    assert.equal(recorded.all('denied'), []);
    // Another client has taken the permits of the second in between.
    answer([[1, 2000]]);
    assert.equal(recorded.all('granted'), ['first']);
    assert.equal(recorded.all('denied'), ['third']);
  },
);

timed('reservations of a lower rate take no more permits of a raised one', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: tokenBucket({ permits: 1, interval: 1000 }) });
  await limiter.acquire();
  const waiting = [1, 2].map(() => fateOf(limiter.acquire()));
  await limiter.setRate(slidingWindow({ permits: 5, interval: 10 }));
  const timed = fateOf(limiter.acquire(1, { timeout: 1500 }));
  await clock.tickAsync(1500);
  assert.equal(
    [...waiting, timed].map(({ value, at }) => value && at),
    [1000, 1000, 1000],
  );
});

timed(
  'while another client waits, a request that may not be granted in time counts for none',
  async (clock) => {
    const store = memoryStore();
    const limit = tokenBucket({ permits: 1, interval: 1000, burst: 2 });
    const [a, b] = [1, 2].map(() => new RateLimiter({ name: 'api', limit, store }));
    await a.acquire(2);
    for (const limiter of [b, a, b]) void limiter.acquire();
    await clock.tickAsync(1300);
    // The second permit of the first request would be available at 4000, but for the other client, which has reserved 3000.
    const fates = [2, 1].map((permits) => fateOf(a.acquire(permits, { timeout: 3000 })));
    await clock.tickAsync(3000);
    assert.ok(fates[0].reason instanceof AcquireTimeoutError);
    assert.is(fates[1].value?.waited, 2700);
  },
);

timed(
  'permits that another client of this process has refunded are in time for a new request',
  async (clock) => {
    const store = memoryStore();
    const [a, b] = [1, 2].map(() => new RateLimiter({ name: 'api', limit: tokenBucket(rate), store }));
    const other = await a.acquire();
    // Three are granted, and the last is reserved behind the other client's permit.
    for (let i = 0; i < 4; i++) void b.acquire(3);
    await other.refund();
    clock.tick(1);
    // In two seconds, the bucket grants 10 permits and 20: those above, 17 of these, and one.
    for (let i = 0; i < 17; i++) void b.acquire();
    const last = fateOf(b.acquire(1, { timeout: 2000 }));
    await clock.tickAsync(2000);
    assert.is(last.value?.waited, 1999);
  },
);

const atRate = { permits: 1000, interval: 1000 };
const fastLimits: [kind: string, limit: Limit][] = [
  ['a sliding window', slidingWindow(atRate)],
  ['a fixed window', fixedWindow(atRate)],
  ['a bucket', tokenBucket(atRate)],
];
const most = 100_000;
for (const [[kind, limit], timeouts, perMs] of cases(fastLimits, [most, 1], [most, 100]))
  timed(
    `${timeouts} timeouts in a queue of ${most} in ${kind}, of which ${perMs} come in a millisecond, at most double its cost`,
    (clock) => {
      const work = (count: number) => {
        const limiter = new RateLimiter({ name: 'api', limit });
        return () => {
          for (let i = 1; i <= most; i++) {
            const timeout = i <= most - count ? Infinity : 1e9;
            limiter.acquire(1, { timeout }).catch(() => undefined);
            if (i % perMs === 0) clock.tick(1);
          }
          clock.tick(most + 1000);
        };
      };
      const ratio = growth([0, timeouts], work, 2);
      assert.ok(ratio < 2, `${ratio.toFixed(1)} times the cost`);
    },
  );

test.run();
