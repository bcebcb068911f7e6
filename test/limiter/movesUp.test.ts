import type { SinonFakeTimers } from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { capacityOf, fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { jain } from '../fleet/measures.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

const rate = { permits: 10, interval: 5000 };
const kinds: Record<string, Limit> = {
  'a sliding window': slidingWindow({ ...rate, resolution: 1 }),
  'a coarse sliding window': slidingWindow({ ...rate, resolution: 500 }),
  'a fixed window': fixedWindow(rate),
  'a fixed window on the clock': fixedWindow({ ...rate, align: 'epoch' }),
  'a token bucket': tokenBucket(rate),
};

for (const [kind, limit] of Object.entries(kinds)) {
  timed(`permits refunded to ${kind} go at once to the waiting request`, async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit });
    const permit = await limiter.acquire(10);
    const fate = fateOf(limiter.acquire(5));
    await clock.tickAsync(1);
    await permit.refund(9);
    await clock.tickAsync(0);
    assert.is(fate.at, 1);
  });

  timed(`permits released to ${kind} go at once to the waiting request`, async (clock) => {
    const limiter = new RateLimiter({ name: 'api', limit });
    await limiter.acquire(10);
    const fate = fateOf(limiter.acquire(5));
    await clock.tickAsync(1);
    await limiter.release(9);
    await clock.tickAsync(100);
    assert.ok(fate.at !== undefined, 'it still waits');
  });
}

timed('requests of several costs move up in their order', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: kinds['a sliding window'] });
  const permit = await limiter.acquire(10);
  const fates = [3, 1, 5, 2].map((permits) => fateOf(limiter.acquire(permits)));
  await clock.tickAsync(10);
  await permit.refund(9);
  await clock.tickAsync(10);
  assert.equal(times(fates), [10, 10, 10, undefined]);
});

timed('a cancelled request lets later ones of other costs move up', async (clock) => {
  const limiter = new RateLimiter({
    name: 'api',
    limit: tokenBucket({ permits: 1, interval: 100, burst: 10 }),
  });
  await limiter.acquire(10);
  const controller = new AbortController();
  const large = fateOf(limiter.acquire(10, { signal: controller.signal }));
  const small = fateOf(limiter.acquire(1));
  await clock.tickAsync(200);
  controller.abort(new Error('no more'));
  await clock.tickAsync(100);
  assert.is(large.reason?.message, 'no more');
  assert.ok(small.at !== undefined, 'it waits behind a request that is gone');
});

timed(
  'refunds that are not enough move reservations ever less often, down to ten times a second',
  async (clock) => {
    const limiter = new RateLimiter({
      name: 'api',
      limit: slidingWindow({ permits: 1000, interval: 60_000 }),
    });
    const permits = await Promise.all(Array.from({ length: 1000 }, () => limiter.acquire()));
    const fate = fateOf(limiter.acquire(1000));
    await clock.tickAsync(0);
    const { calls } = limiter.stats();
    for (const permit of permits.slice(1)) {
      await permit.refund();
      await clock.tickAsync(1);
    }
    assert.is(fate.at, undefined);
    // The pauses double from 1 to 64 ms, and then take 100.
    assert.ok(limiter.stats().calls - calls <= 17, `${limiter.stats().calls - calls} calls in a second`);
    await permits[0].refund();
    await clock.tickAsync(100);
    assert.ok(fate.at !== undefined, 'all is back, and it still waits');
  },
);

timed(
  'permits refunded shortly before the first waiting request is granted reach the others',
  async (clock) => {
    const limit = slidingWindow({ permits: 10, interval: 1000, resolution: 1 });
    const wire = slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 25, back: 25 });
    const line = openLine(limit, wire);
    const recorded = recorder<number>();
    const ask = () => line.ask(recorded, [1], Infinity, 0);
    ask();
    await clock.tickAsync(600);
    for (let i = 0; i < 9; i++) ask();
    await clock.tickAsync(100);
    for (let i = 0; i < 5; i++) ask();
    // The first of them waits until 1025, and the others until 1625.
    await clock.tickAsync(265);
    for (const ending of recorded.endings.slice(1, 10))
      if (ending.what === 'granted') line.refund(ending.grant);
    await clock.tickAsync(250);
    assert.is(recorded.all('granted').length, 15);
  },
);

/**
 * Clients of a limit that the first of them has used up. Each waits with its number of requests, of one permit or of its cost, so
 * many milliseconds from the store.
 */
async function usedUp(
  clock: SinonFakeTimers,
  limit: Limit,
  queued: readonly number[],
  away: readonly number[] = queued.map(() => 1),
  costs: readonly number[] = queued.map(() => 1),
) {
  const store = memoryStore();
  // A server's time is hardly ever a whole number of milliseconds.
  await clock.tickAsync(0.4);
  const clients = queued.map((_, i) => ({
    line: openLine(
      limit,
      slowLedger(openLedger(store, limit, `client ${i}`), { there: away[i], back: away[i] }),
    ),
    recorded: recorder<number>(),
  }));
  const [one] = clients;
  for (let i = 0; i < capacityOf(limit); i++) one.line.ask(one.recorded, [1], Infinity, 0);
  await clock.tickAsync(3000 + 64 * away[0]);
  const held = one.recorded.endings.splice(0);
  for (const [client, { line, recorded }] of clients.entries())
    for (let i = 0; i < queued[client]; i++) line.ask(recorded, [costs[client]], Infinity, 0);
  await clock.tickAsync(2000 + 4 * away[0]);
  return {
    /** The first client refunds its permits one after another, and waits after each. */
    async *refunding(count: number, every: number) {
      for (const [i, ending] of held.slice(0, count).entries()) {
        if (ending.what === 'granted') one.line.refund(ending.grant);
        await clock.tickAsync(every);
        yield (i + 1) * every;
      }
    },
    grantedTo: () => clients.map(({ recorded }) => recorded.all('granted').length),
    callsMade: () => clients.reduce((sum, { line }) => sum + line.stats.calls, 0),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);

for (const [kind, limit] of Object.entries({
  'a sliding window': slidingWindow({ permits: 1000, interval: 60_000 }),
  'a fixed window': fixedWindow({ permits: 1000, interval: 60_000 }),
}))
  for (const [number, every] of [
    [2, 10],
    [2, 100],
    [6, 10],
    [6, 100],
  ])
    timed(
      `permits that one of ${number} waiting clients of ${kind} refunds every ${every} ms reach all of them`,
      async (clock) => {
        const { refunding, grantedTo, callsMade } = await usedUp(clock, limit, Array(number).fill(700));
        const calls = callsMade();
        let before = grantedTo();
        for await (const ms of refunding(8000 / every, every)) {
          if (ms % 2000 > 0) continue;
          const granted = grantedTo();
          assert.ok(
            granted.every((count, client) => count > before[client]),
            `${granted} after ${before}`,
          );
          before = granted;
        }
        await clock.tickAsync(2000);
        const granted = grantedTo();
        const all = sum(granted);
        assert.ok(all >= (0.97 * 8000) / every, `${granted}`);
        assert.ok(jain(granted) >= 0.93, `${granted}`);
        assert.ok(callsMade() - calls <= 1.5 * all, `${callsMade() - calls} calls for ${all}`);
      },
    );

for (const [number, count, every, interval] of [
  [10, 400, 50, 60_000],
  [30, 400, 50, 60_000],
  [10, 200, 500, 600_000],
])
  timed(
    `however many clients wait, here ${number}, each gets its part of ${count} permits`,
    async (clock) => {
      const limit = slidingWindow({ permits: 1000, interval });
      const { refunding, grantedTo } = await usedUp(clock, limit, Array(number).fill(100));
      for await (const _ of refunding(count, every));
      await clock.tickAsync(3000);
      const granted = grantedTo();
      assert.is(sum(granted), count);
      // With equal round trips, clients that call in one order for ever would leave nothing to the last.
      assert.ok(jain(granted) >= 0.93, `${granted}`);
    },
  );

timed('the permits that come back are shared whatever the round trips of the clients', async (clock) => {
  const limit = slidingWindow({ permits: 1000, interval: 60_000 });
  const { refunding, grantedTo } = await usedUp(clock, limit, [700, 700, 700], [1, 25, 100]);
  for await (const _ of refunding(1000, 10));
  await clock.tickAsync(3000);
  const granted = grantedTo();
  assert.is(sum(granted), 1000);
  assert.ok(jain(granted) >= 0.95, `${granted}`);
});

for (const [away, every] of [
  [[100, 100], 10],
  [[125, 125], 10],
  [[200, 200], 100],
  [[300, 300], 10],
  [[1, 300], 10],
  [[200, 200, 200, 200], 10],
] as const)
  timed(
    `the permits that come back every ${every} ms are shared by clients with the constant round trips ${away.map((ms) => 2 * ms)}`,
    async (clock) => {
      const limit = slidingWindow({ permits: 1000, interval: 120_000 });
      const queued = away.map(() => 700);
      const { refunding, grantedTo } = await usedUp(clock, limit, queued, away);
      for await (const _ of refunding(Math.min(900, 16_000 / every), every));
      await clock.tickAsync(4000);
      const granted = grantedTo();
      assert.ok(jain(granted) >= 0.98, `${granted}`);
    },
  );

for (const [kind, limit] of Object.entries({
  'a sliding window': slidingWindow({ permits: 1000, interval: 60_000 }),
  'a fixed window': fixedWindow({ permits: 1000, interval: 60_000 }),
}))
  for (const [cost, number, every] of [
    [10, 2, 50],
    [50, 4, 10],
    [100, 2, 50],
    [100, 8, 10],
    [300, 2, 10],
  ])
    timed(
      `a request of ${cost} permits of ${kind} waits no longer than its fair share of what comes back every ${every} ms, beside ${number - 1} clients`,
      async (clock) => {
        const queued = Array.from({ length: number }, (_, i) => (i === 1 ? 1 : 1500));
        const costs = queued.map((_, i) => (i === 1 ? cost : 1));
        const { refunding, grantedTo } = await usedUp(clock, limit, queued, undefined, costs);
        let granted = 0;
        const counts = Math.min(1000, 16_000 / every);
        for await (const ms of refunding(counts, every)) {
          granted = ms;
          if (grantedTo()[1] > 0) break;
        }
        // Turns begin within a second and a half, and the client calls within one and a quarter.
        assert.ok(grantedTo()[1] > 0, 'it still waits');
        assert.ok(granted <= cost * number * every + 2750, `it waited for ${granted} ms`);
      },
    );

timed('a request that waits for another limit of a record holds up nobody for ever', async (clock) => {
  const store = memoryStore();
  const interval = 60_000;
  const limit = { a: slidingWindow({ permits: 100, interval }), b: slidingWindow({ permits: 50, interval }) };
  const [one, two] = ['one', 'two'].map(
    (clientId) => new RateLimiter({ name: 'api', limit, store, clientId }),
  );
  const held = await Promise.all(Array.from({ length: 100 }, () => one.acquire({ a: 1 })));
  await one.acquire({ b: 50 });
  fateOf(one.acquire({ a: 1, b: 1 }));
  const fates = Array.from({ length: 100 }, () => fateOf(two.acquire({ a: 1 })));
  await clock.tickAsync(2000);
  for (const permit of held.slice(0, 60)) {
    await permit.refund();
    await clock.tickAsync(200);
  }
  await clock.tickAsync(2000);
  const granted = fates.filter(({ at }) => at !== undefined).length;
  assert.ok(granted >= 55, `${granted} of 60`);
  await Promise.all([one.close(), two.close()]);
});

for (const limit of [
  tokenBucket({ permits: 10, interval: 1000, burst: 500 }),
  tokenBucket({ permits: 100, interval: 60_000, burst: 1000 }),
  tokenBucket({ permits: 1, interval: 1000, burst: 500 }),
])
  for (const number of [2, 3, 6])
    timed(
      `one of ${number} clients that refunds an earlier burst of ${limit.burst} leaves the others their fair share of a bucket of ${limit.permits} in ${limit.interval} ms`,
      async (clock) => {
        const { refunding, grantedTo } = await usedUp(clock, limit, Array(number).fill(700));
        for await (const _ of refunding(400, 10));
        await clock.tickAsync(3000);
        const [own, ...others] = grantedTo();
        const share = (9000 * limit.permits) / limit.interval / number;
        assert.ok(
          others.every((count) => count >= Math.floor(share)),
          `${others}, where ${share} are fair`,
        );
        // All that came back is granted again.
        assert.ok(own + sum(others) >= 400 + Math.floor(share) * number, `${own}, and ${others}`);
      },
    );

const hour = 3_600_000;

for (const [limit, every, count] of [
  [slidingWindow({ permits: 100, interval: 60_000 }), 500, 80],
  [fixedWindow({ permits: 100, interval: 60_000 }), 500, 80],
  [slidingWindow({ permits: 600, interval: 60_000 }), 100, 300],
  [fixedWindow({ permits: 600, interval: 60_000 }), 100, 300],
  [slidingWindow({ permits: 5000, interval: hour }), 500, 80],
  [fixedWindow({ permits: 5000, interval: hour }), 500, 80],
] as const)
  for (const number of [2, 4])
    timed(
      `permits of a ${limit.kind} of ${limit.permits} in ${limit.interval} ms that one of ${number} waiting clients refunds every ${every} ms reach all of them`,
      async (clock) => {
        const { refunding, grantedTo } = await usedUp(clock, limit, Array(number).fill(count));
        for await (const _ of refunding(count, every));
        await clock.tickAsync(3000);
        const granted = grantedTo();
        assert.is(sum(granted), count);
        assert.ok(jain(granted) >= 0.9, `${granted}`);
      },
    );

for (const [limit, every] of [
  [slidingWindow({ permits: 1000, interval: 60_000 }), 10],
  [fixedWindow({ permits: 5000, interval: hour }), 50],
  // Their slots are 36 and 864 seconds long.
  [slidingWindow({ permits: 5000, interval: hour }), 500],
  [slidingWindow({ permits: 10_000, interval: 24 * hour }), 500],
] as const)
  timed(
    `permits of a ${limit.kind} of ${limit.permits} that a client without requests refunds every ${every} ms reach the only one that waits`,
    async (clock) => {
      const { refunding, grantedTo } = await usedUp(clock, limit, [0, 2000]);
      const count = Math.min(limit.permits, 12_000 / every);
      let refunded = 0;
      for await (const ms of refunding(count, every)) {
        if (ms % 2000 > 0) continue;
        const [, granted] = grantedTo();
        assert.ok(granted >= refunded, `${granted} granted, and ${refunded} refunded two seconds before`);
        refunded = ms / every;
      }
      await clock.tickAsync(2000);
      assert.is(grantedTo()[1], count);
    },
  );

for (const [limit, back] of [
  [slidingWindow({ permits: 1000, interval: 60_000 }), 9],
  [fixedWindow({ permits: 5000, interval: hour }), 49],
  [slidingWindow({ permits: 10_000, interval: 24 * hour }), 99],
] as const)
  for (const waiting of [1, 2])
    timed(
      `${back} permits of ${limit.permits} that another client refunds at once reach ${waiting} that wait`,
      async (clock) => {
        const { refunding, grantedTo } = await usedUp(clock, limit, [0, ...Array(waiting).fill(3)]);
        for await (const _ of refunding(back, 0));
        await clock.tickAsync(4000);
        assert.is(sum(grantedTo()), 3 * waiting);
      },
    );

timed('many waiting requests move up ten times a second at most', async (clock) => {
  const limit = slidingWindow({ permits: 100, interval: 10_000 });
  const line = openLine(limit, slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 1, back: 1 }));
  const recorded = recorder<number>();
  // These are not merged, so a move has to walk all of them.
  for (let i = 0; i < 12_000; i++) line.ask(recorded, [1], Infinity, i);
  await clock.tickAsync(1000);
  const { calls } = line.stats;
  for (const ending of recorded.endings.slice(0, 100)) {
    if (ending.what === 'granted') line.refund(ending.grant);
    await clock.tickAsync(10);
  }
  // A move makes two: for the permits that are free, and for the next reservation.
  const made = line.stats.calls - calls;
  assert.ok(made <= 25, `${made} calls in a second`);
  assert.ok(recorded.all('granted').length >= 185, `${recorded.all('granted').length} granted`);
});

timed(
  'with another contender, refunded permits reach every waiting request within two seconds',
  async (clock) => {
    const store = memoryStore();
    const limit = slidingWindow({ permits: 10, interval: 60_000, resolution: 1 });
    const [a, b] = ['a', 'b'].map((clientId) => new RateLimiter({ name: 'api', limit, store, clientId }));
    const permit = await a.acquire(10);
    const fates = [a, b, a, b].map((limiter) => fateOf(limiter.acquire(2)));
    await clock.tickAsync(5000);
    await permit.refund(9);
    await clock.tickAsync(2000);
    assert.ok(
      fates.every(({ at }) => at !== undefined),
      `granted at ${times(fates)}`,
    );
    await Promise.all([a.close(), b.close()]);
  },
);

for (const [kind, limit] of Object.entries(kinds))
  timed(
    `permits of ${kind} refunded by a client that does not wait reach the only waiting one`,
    async (clock) => {
      const store = memoryStore();
      const [a, b] = ['a', 'b'].map((clientId) => new RateLimiter({ name: 'api', limit, store, clientId }));
      const permit = await a.acquire(10);
      await clock.tickAsync(200);
      const fates = [fateOf(b.acquire(5)), fateOf(b.acquire(4))];
      await clock.tickAsync(0);
      await permit.refund(9);
      // The other limiter calls within 1.5 s, and keeps reservations that are due within two seconds of that call.
      await clock.tickAsync(2500);
      assert.ok(
        fates.every(({ at }) => at !== undefined),
        `granted at ${times(fates)}`,
      );
      await Promise.all([a.close(), b.close()]);
    },
  );

for (const [resolution, at] of [
  // By the clock of the store, the slots end 64 and 70 s after the start.
  [6000, 58_500],
  [30_000, 40_500],
])
  timed(
    `permits refunded by another client within a slot of ${resolution} ms reach those that wait within two seconds`,
    async (clock) => {
      const store = memoryStore();
      const limit = slidingWindow({ permits: 10, interval: 60_000, resolution });
      const [a, b] = ['a', 'b'].map((clientId) => new RateLimiter({ name: 'api', limit, store, clientId }));
      const permits = await Promise.all(Array.from({ length: 10 }, () => a.acquire()));
      await clock.tickAsync(at);
      const fates = [1, 2, 1].map((count) => fateOf(b.acquire(count)));
      await clock.tickAsync(100);
      await Promise.all(permits.slice(6).map((permit) => permit.refund()));
      await clock.tickAsync(2000);
      assert.ok(
        fates.every(({ at }) => at !== undefined),
        `granted at ${times(fates)}`,
      );
      await Promise.all([a.close(), b.close()]);
    },
  );

timed(
  'permits that were too few for a cancelled request reach another client with a reservation for the same moment',
  async (clock) => {
    const store = memoryStore();
    const limit = slidingWindow({ permits: 10, interval: 60_000, resolution: 1 });
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(
      (clientId) => new RateLimiter({ name: 'api', limit, store, clientId }),
    );
    await a.acquire(7);
    const controller = new AbortController();
    fateOf(b.acquire(9, { signal: controller.signal }));
    const fate = fateOf(c.acquire(1));
    fateOf(d.acquire(5));
    await clock.tickAsync(10_000);
    controller.abort();
    await clock.tickAsync(1600);
    assert.ok(fate.at !== undefined, 'it still waits for its moment');
    await Promise.all([a, b, c, d].map((limiter) => limiter.close()));
  },
);

for (const [resolution, at] of [
  // The reservation is due at 10500, just beyond the notice period, or in a slot that begins within it.
  [1, 8500],
  [500, 8300],
])
  timed(
    `no permits stay charged for void reservations: in slots of ${resolution} ms, after a refund at ${at}`,
    async (clock) => {
      const store = memoryStore();
      const limit = slidingWindow({ permits: 10, interval: 10_000, resolution });
      const [a, b, c] = ['a', 'b', 'c'].map(
        (clientId) => new RateLimiter({ name: 'api', limit, store, clientId }),
      );
      await clock.tickAsync(500);
      const permits = await Promise.all(Array.from({ length: 10 }, () => a.acquire()));
      const large = fateOf(b.acquire(9));
      await clock.tickAsync(at - 500);
      await Promise.all(permits.slice(5).map((permit) => permit.refund()));
      // It calls, so that reservations move up.
      const small = fateOf(c.acquire());
      await clock.tickAsync(10_500 - at);
      assert.ok(large.at !== undefined && small.at !== undefined, `granted at ${times([large, small])}`);
      await Promise.all([a, b, c].map((limiter) => limiter.close()));
    },
  );

timed(
  'within a process no moment goes backwards: requests behind a reserved one wait for it',
  async (clock) => {
    const limit = {
      a: slidingWindow({ permits: 2, interval: 1000, resolution: 1 }),
      b: slidingWindow({ permits: 2, interval: 100, resolution: 1 }),
    };
    const limiter = new RateLimiter({ name: 'api', limit });
    const granted: number[] = [];
    const ask = (permits: { a?: number; b?: number }) =>
      limiter.acquire(permits).then(({ grantedAt }) => granted.push(grantedAt - 1_700_000_000_000));
    await ask({ a: 2 });
    // The request for `a` waits until 1000, and so do the requests for `b` behind it: `b` is not charged before.
    const all = [ask({ a: 1 }), ...Array.from({ length: 6 }, () => ask({ b: 1 }))];
    await clock.tickAsync(3000);
    await Promise.all(all);
    assert.equal(granted, [0, 1000, 1000, 1000, 1100, 1100, 1200, 1200]);
  },
);

timed('a refund is reported only if it restored permits', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: slidingWindow(rate) });
  const events: unknown[] = [];
  limiter.events$.subscribe(({ type }) => type === 'refunded' && events.push(type));
  const [used, late, forgotten] = await Promise.all([1, 1, 1].map((n) => limiter.acquire(n)));
  await used.refund();
  assert.is(events.length, 1);
  await limiter.reset();
  await forgotten.refund();
  await clock.tickAsync(10_000);
  await late.refund();
  assert.is(events.length, 1);
});

for (const [kind, limit] of Object.entries(kinds))
  timed(`permits granted before the rate of ${kind} changed are refunded under the new one`, async () => {
    const limiter = new RateLimiter({ name: 'api', limit });
    const permit = await limiter.acquire(6);
    const other =
      limit.kind === 'tokenBucket' ? tokenBucket({ ...rate, permits: 8 }) : { ...limit, permits: 8 };
    const changed: Limit =
      other.kind === 'tokenBucket'
        ? other
        : other.kind === 'fixedWindow'
          ? fixedWindow({ permits: 8, interval: rate.interval, align: other.align })
          : slidingWindow({ permits: 8, interval: rate.interval, resolution: other.resolution });
    await limiter.setRate(changed);
    assert.is(await limiter.availablePermits(), 2);
    await permit.refund(5);
    assert.is(await limiter.availablePermits(), 7);
    await limiter.reset();
    assert.is(await limiter.availablePermits(), 8);
  });

timed(
  'a reservation that is due in two milliseconds is not moved, and those behind it are',
  async (clock) => {
    const limit = slidingWindow({ permits: 10, interval: 100, resolution: 1 });
    const limiter = new RateLimiter({ name: 'api', limit });
    await limiter.acquire();
    await clock.tickAsync(3);
    const permits = await Promise.all(Array.from({ length: 9 }, () => limiter.acquire()));
    const fates = [fateOf(limiter.acquire()), fateOf(limiter.acquire())];
    await clock.tickAsync(95);
    void permits[0].refund();
    await clock.tickAsync(100);
    assert.equal(
      fates.map(({ at }) => at),
      [100, 100],
    );
    await limiter.close();
  },
);

timed(
  'a request behind reservations that are about to move up is not refused for their old moments',
  async (clock) => {
    const limiter = new RateLimiter({
      name: 'api',
      limit: slidingWindow({ permits: 2, interval: 1000, resolution: 1 }),
    });
    await limiter.acquire(2);
    const before = fateOf(limiter.acquire(2));
    await clock.tickAsync(500);
    // Moves follow each other at intervals: the second of these is still ahead.
    await limiter.release(1);
    await limiter.release(1);
    const fate = fateOf(limiter.acquire(1, { timeout: 1300 }));
    await clock.tickAsync(1300);
    assert.ok(before.at! < 510, `${before.at}`);
    assert.is(fate.reason, undefined);
    assert.is(fate.at, before.at! + 1000);
    await limiter.close();
  },
);

test.run();
