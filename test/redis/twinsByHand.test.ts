// Histories that random ones seldom or never meet: sums that are exactly zero, and searches that continue after a change.
import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import type { LimitSpec } from '../properties/specs.ts';
import type { Step } from '../properties/steps.ts';
import { redisSuite } from './redisSuite.ts';
import { clientsOfVersion, sameInBoth, type Version } from './twins.ts';

const test = redisSuite('twins by hand');

const wait = (ms: number): Step => ({ kind: 'advance', us: ms * 1000 });
const take = (permits: number, client = 0): Step => ({ kind: 'decide', client, cost: [permits] });
/** Requests of these permits, each as its own run, and the longest wait of each. */
const ask = (...runs: [permits: number, maxWait: number][]): Step => ({
  ...{ kind: 'reserve', client: 0, horizon: 10_000, held: 0 },
  runs: runs.map(([permits, maxWait]) => ({ count: 1, cost: [permits], maxWait })),
});
const versionOf = (limit: LimitSpec): Version => ({ names: [''], limits: [limit] });

test('a bucket that replaces a window with as many permits ahead as its refill', async ({ redis }) => {
  const rate = { permits: 1, interval: 1000 };
  const versions = [
    versionOf({ kind: 'slidingWindow', ...rate, resolution: 1 }),
    versionOf({ kind: 'tokenBucket', ...rate, burst: 1 }),
  ];
  // One permit is granted, one is reserved for a second later: the bucket has one, and refills one until then.
  const other = clientsOfVersion;
  // A millisecond later, it owes a single unit of a thousandth of a permit.
  for (const between of [0, 1, 2]) {
    const steps = [
      ask([1, Infinity], [1, Infinity]),
      wait(between),
      take(1, other),
      wait(500),
      take(1, other),
    ];
    const history = {
      startUs: 1_000_000,
      limits: versions[0].limits,
      steps: [...steps, wait(500), take(1, other)],
    };
    await sameInBoth(redis, history, versions);
  }
});

test('a decision after which a window resets in 2^33 microseconds: too many for a reply of one number', async ({
  redis,
}) => {
  const interval = Math.floor(2 ** 33 / 1000);
  const limits: LimitSpec[] = [{ kind: 'fixedWindow', permits: 9, interval, align: 'first' }];
  for (const more of [-1, 0, 1]) {
    // The window starts with the next millisecond.
    const startUs = 1_000_000 + interval * 1000 - 2 ** 33 + more;
    await sameInBoth(redis, { startUs, limits, steps: [take(1), take(1)] }, [{ names: [''], limits }]);
  }
});

test('a bucket whose reservations ahead are more than 2^53 units', async ({ redis }) => {
  // The window makes the second request wait for 734 ms, until which the bucket loses 2.6e18 units.
  const limits: LimitSpec[] = [
    { kind: 'slidingWindow', permits: 1, interval: 734, resolution: 1 },
    { kind: 'tokenBucket', permits: 3_556_683_908_466_575, interval: 1, burst: 1 },
  ];
  const askFor = (client: number, cost: number[]): Step => ({
    ...{ kind: 'reserve', client, horizon: 10_000, held: 0 },
    runs: [{ count: 1, cost, maxWait: Infinity }],
  });
  const steps = [askFor(0, [1, 1]), askFor(0, [1, 1]), askFor(1, [0, 1])];
  await sameInBoth(redis, { startUs: 1_700_000_000_000_000, limits, steps }, [{ names: ['', ''], limits }]);
});

test('a debt, a release and a debt in one call', async ({ redis }) => {
  const limits: LimitSpec[] = [{ kind: 'slidingWindow', permits: 6, interval: 1000, resolution: 1 }];
  const owe = (permits: number) => ({ kind: 'owe', client: 0, permits: [permits] }) as const;
  for (const [first, released, second] of [
    [2, 1, 2],
    [4, 3, 4],
    [1, 4, 9],
    [9, 2, 3],
  ]) {
    const release = { kind: 'release', client: 0, permits: [released] } as const;
    const parts = [owe(first), release, owe(second)];
    const batch: Step = { kind: 'batch', client: 0, parts };
    const steps = [take(1), wait(100), take(2), wait(100), take(3), batch, ask([1, Infinity]), batch];
    await sameInBoth(redis, { startUs: 1_000_000, limits, steps }, [{ names: [''], limits }]);
  }
});

test('more changes of the rate than a ledger keeps', async ({ redis }) => {
  const limitOf = (permits: number): LimitSpec => ({
    ...{ kind: 'slidingWindow', permits, interval: 1000, resolution: 1 },
  });
  const change = (i: number): Step[] => [
    { kind: 'setRate', client: 0, limits: [limitOf(1 + (i % 2))], ifAbsent: false, keepState: true },
    wait(100),
    ask([1, Infinity]),
  ];
  const limits = [limitOf(1)];
  // The two oldest of nine changes become one.
  const steps = [
    ask([1, Infinity], [1, Infinity]),
    ...Array.from({ length: 12 }, (_, i) => change(i)).flat(),
  ];
  await sameInBoth(redis, { startUs: 1_000_000, limits, steps }, [{ names: [''], limits }]);
});

test('a release leaves an empty window as it is that is off the grid and still ahead', async ({ redis }) => {
  const limits: LimitSpec[] = [{ kind: 'fixedWindow', permits: 3, interval: 57_000, align: 'epoch' }];
  const runs = [
    { count: 5, cost: [1], maxWait: Infinity },
    { count: 3, cost: [2], maxWait: 198_000 },
  ];
  const picks = [
    { place: 70, count: 1, parts: [100] },
    { place: 99, count: 4, parts: [100] },
  ];
  const release = { kind: 'release', client: 2, permits: [3] } as const;
  const steps: Step[] = [
    { kind: 'reserve', client: 0, runs, horizon: 152_000, held: 4000 },
    { kind: 'refund', client: 0, picks },
    { kind: 'stepBack', ms: 6000 },
    { kind: 'batch', client: 2, parts: [{ kind: 'owe', client: 2, permits: [3] }, release, release] },
  ];
  await sameInBoth(redis, { startUs: 4, limits, steps }, [{ names: [''], limits }]);
});

test('permits that come back to a bucket are granted one by one in front of a reservation', async ({
  redis,
}) => {
  const limits: LimitSpec[] = [{ kind: 'tokenBucket', permits: 1000, interval: 1000, burst: 1000 }];
  const picks = [{ place: 0, count: 1, parts: [100] }];
  const runs = [{ count: 1, cost: [25], maxWait: 0 }];
  const gap: Step = { kind: 'reserve', client: 1, horizon: 10_000, held: 0, runs };
  const steps: Step[] = [
    ask([1000, Infinity]),
    ask([100, Infinity]),
    gap,
    { kind: 'refund', client: 0, picks },
    // More often than a bucket keeps steps of past grants.
    ...Array.from({ length: 20 }, () => [wait(5), gap]).flat(),
  ];
  await sameInBoth(redis, { startUs: 1_000_000, limits, steps }, [{ names: [''], limits }]);
});

test('more steps of reservations ahead than a bucket keeps, of many sizes', async ({ redis }) => {
  const limits: LimitSpec[] = [{ kind: 'tokenBucket', permits: 100, interval: 1000, burst: 100 }];
  const waiting = Array.from({ length: 80 }, (_, i) => ask([1 + ((i * 7) % 5), Infinity]));
  await sameInBoth(redis, { startUs: 1_000_000, limits, steps: [take(100), ...waiting] }, [
    versionOf(limits[0]),
  ]);
});

test('reservations of a bucket move up before a request that may not wait is refused', async ({ redis }) => {
  const limits: LimitSpec[] = [{ kind: 'tokenBucket', permits: 8, interval: 2000, burst: 8 }];
  const picks = [{ place: 0, count: 1, parts: [100] }];
  const steps: Step[] = [
    ask([1, Infinity]),
    ask([8, Infinity], [8, Infinity], [8, Infinity], [8, Infinity]),
    { kind: 'refund', client: 0, picks },
    wait(4000),
    ask([1, 0]),
  ];
  await sameInBoth(redis, { startUs: 0, limits, steps }, [{ names: [''], limits }]);
});

const rate = { permits: 3, interval: 3000 };
for (const limit of [
  { kind: 'slidingWindow', ...rate, resolution: 1 },
  { kind: 'fixedWindow', ...rate, align: 'first' },
  { kind: 'tokenBucket', ...rate, burst: 3 },
] as const)
  test(`the fast path refuses a request that may wait a microsecond less than it has to: ${limit.kind}`, async ({
    redis,
  }) => {
    // Until the oldest of three permits is free again, or the window ends, or a permit is refilled.
    const until = { slidingWindow: 2800, fixedWindow: 2800, tokenBucket: 800 }[limit.kind];
    for (const [maxWait, quick] of [
      [0, 4],
      [until - 0.001, 4],
      [until, 3],
      [until + 0.001, 3],
    ] as const) {
      const steps = [take(1), wait(100), take(1), wait(100), take(1), ask([1, maxWait])];
      const history = { startUs: 1_000_000, limits: [limit], steps };
      const tally = await sameInBoth(redis, history, [versionOf(limit)]);
      assert.is(tally.quick, quick, `a wait of ${maxWait} ms`);
    }
  });

/** A window of so many permits, each with an entry of its own, all taken. */
async function fullWindow(redis: Redis, permits: number, ...steps: Step[]): Promise<number> {
  const limit: LimitSpec = { kind: 'slidingWindow', permits, interval: 1000, resolution: 1 };
  const taken = Array.from({ length: permits }, () => [take(1), wait(10)]).flat();
  const history = { startUs: 1_000_000, limits: [limit], steps: [...taken, ...steps] };
  return (await sameInBoth(redis, history, [versionOf(limit)])).quick;
}

for (const permits of [5, 20])
  test(`the fast path removes expired entries, and refuses what is not free then: ${permits} entries`, async ({
    redis,
  }) => {
    const before = await fullWindow(redis, permits);
    const quick = (...steps: Step[]) => fullWindow(redis, permits, ...steps).then((n) => n - before);
    const untilFirst = wait(1000 - 10 * permits);
    assert.is(await quick(take(1), ask([1, 0])), 2);
    assert.is(await quick(take(5)), permits === 5 ? 1 : 0);
    // The first entry has expired: one permit is free.
    assert.is(await quick(untilFirst, take(1), take(1), ask([1, 0])), 3);
    assert.is(await quick(untilFirst, take(1), wait(10), ask([1, 0])), 2);
    // Each entry has one permit. Of a list, only the first one is read.
    assert.is(await quick(untilFirst, take(2)), 1);
    assert.is(await quick(untilFirst, take(3)), permits === 5 ? 1 : 0);
    assert.is(await quick(untilFirst, wait(10), take(1)), permits === 5 ? 1 : 0);
  });

test('the fast path leaves no permits below zero after a lower limit has come into force', async ({
  redis,
}) => {
  const versions = [9, 2].map((permits) =>
    versionOf({ kind: 'fixedWindow', permits, interval: 1000, align: 'first' }),
  );
  const other = clientsOfVersion;
  const steps = [take(5), wait(10), take(1, other), wait(10), take(1, other)];
  const history = { startUs: 1_000_000, limits: versions[0].limits, steps };
  assert.is((await sameInBoth(redis, history, versions)).quick, 2);
});

test('the fast path opens a window after a short one, whose ledger is kept longer', async ({ redis }) => {
  for (const limit of [
    { kind: 'slidingWindow', permits: 3, interval: 50, resolution: 1 },
    { kind: 'fixedWindow', permits: 3, interval: 50, align: 'first' },
    { kind: 'fixedWindow', permits: 3, interval: 50, align: 'epoch' },
  ] as const) {
    for (const between of [49, 50, 100]) {
      const steps = [take(1), wait(10), take(2), wait(between), take(1), wait(10), take(2), take(1)];
      const history = { startUs: 1_000_000, limits: [limit], steps };
      assert.is((await sameInBoth(redis, history, [versionOf(limit)])).quick, 5);
    }
  }
});

const requests = (client: number, count: number, permits = 1, maxWait = Infinity): Step => ({
  ...{ kind: 'reserve', client, horizon: 0, held: 0 },
  runs: [{ count, cost: [permits], maxWait }],
});
const refund = (client: number, ...places: number[]): Step => ({
  ...{ kind: 'refund', client },
  picks: places.map((place) => ({ place, count: 1, parts: [100] })),
});

test('permits before two refunded reservations of one moment are granted at once', async ({ redis }) => {
  const limit: LimitSpec = { kind: 'slidingWindow', permits: 4, interval: 8000, resolution: 60 };
  const steps: Step[] = [
    requests(0, 2, 3),
    wait(17.32),
    requests(1, 1),
    wait(3.681),
    { kind: 'cancel', client: 0, every: 1, newestFirst: false, ahead: true },
    requests(1, 1),
    requests(0, 1),
    refund(1, 0, 0),
    requests(0, 1),
  ];
  await sameInBoth(redis, { startUs: 1_000_000, limits: [limit], steps }, [versionOf(limit)]);
});

test('a refunded reservation for the start of a window is not used by requests that may start there, too', async ({
  redis,
}) => {
  const limit: LimitSpec = { kind: 'fixedWindow', permits: 18, interval: 20_000, align: 'first' };
  const steps: Step[] = [
    requests(0, 11, 1, 0),
    requests(0, 11),
    { ...requests(1, 2), horizon: 2240 } as Step,
    wait(3999),
    refund(1, 0),
    wait(1),
    { ...requests(0, 2), horizon: 1120 } as Step,
  ];
  await sameInBoth(redis, { startUs: 1_000_000, limits: [limit], steps }, [versionOf(limit)]);
});

test('a refund at the moment at which the pace ends moves no reservation', async ({ redis }) => {
  const limit: LimitSpec = { kind: 'slidingWindow', permits: 1, interval: 4000, resolution: 1 };
  const steps: Step[] = [
    { ...requests(1, 1, 1, 0), held: 1 } as Step,
    requests(0, 1),
    wait(4000),
    refund(0, 0),
    ask([1, 0], [1, Infinity]),
    requests(0, 1, 1, 0),
  ];
  await sameInBoth(redis, { startUs: 1_000_000, limits: [limit], steps }, [versionOf(limit)]);
});

test('after the pace, the order of the clients that waited delays no decision', async ({ redis }) => {
  const limit: LimitSpec = { kind: 'slidingWindow', permits: 1, interval: 60_000, resolution: 1 };
  const steps: Step[] = [
    requests(0, 2),
    refund(0, 0),
    requests(1, 1, 1, 0),
    wait(2001),
    requests(1, 1),
    wait(999),
    take(1, 2),
  ];
  await sameInBoth(redis, { startUs: 1_000_000, limits: [limit], steps }, [versionOf(limit)]);
});

test('reservations move up behind a window that they do not adjoin, as another limit delayed them', async ({
  redis,
}) => {
  const limits: LimitSpec[] = [
    { kind: 'fixedWindow', permits: 2, interval: 24_000, align: 'first' },
    { kind: 'tokenBucket', permits: 1, interval: 30_000, burst: 1 },
  ];
  const both = (client: number, ...cost: number[]): Step => ({
    ...{ kind: 'reserve', client, horizon: 1000, held: 0 },
    runs: [{ count: 1, cost, maxWait: Infinity }],
  });
  const steps: Step[] = [
    both(0, 2, 1),
    wait(100),
    both(1, 1, 1),
    both(2, 1, 1),
    wait(100),
    { kind: 'release', client: 0, permits: [0, 1] },
    wait(100),
    both(1, 1, 1),
    wait(11_000),
    { kind: 'decide', client: 0, cost: [1, 0] },
    wait(13_000),
    { kind: 'decide', client: 0, cost: [1, 0] },
  ];
  await sameInBoth(redis, { startUs: 1_000_000, limits, steps }, [{ names: ['a', 'b'], limits }]);
});

test('cancelled reservations leave no more refunded at the pace than was granted at it', async ({
  redis,
}) => {
  const limit: LimitSpec = { kind: 'tokenBucket', permits: 2, interval: 100, burst: 2 };
  const owe: Step = { kind: 'owe', client: 0, permits: [100] };
  const steps: Step[] = [
    owe,
    { ...requests(2, 1, 1, 0), held: 1 } as Step,
    requests(1, 1),
    { kind: 'release', client: 0, permits: [1] },
    { kind: 'cancel', client: 1, every: 1, newestFirst: false, ahead: true },
    owe,
    // All that the contention left in the ledger has ended, and the debts have not.
    wait(8000),
    requests(0, 1, 1, 0),
  ];
  await sameInBoth(redis, { startUs: 1_000_000, limits: [limit], steps }, [versionOf(limit)]);
});

test('after a pause that was lifted, calls of limiters for each client take the fast path', async ({
  redis,
}) => {
  const limits: LimitSpec[] = [{ kind: 'slidingWindow', permits: 9, interval: 1000, resolution: 1 }];
  const rate: Step = { kind: 'setRate', client: 0, limits, ifAbsent: false, keepState: true };
  const lift: Step = { kind: 'forget', client: 0, rate: false };
  const steps = [rate, { kind: 'pause', client: 0, ms: 60_000 } as Step, lift, wait(10), take(1), take(1)];
  const history = { startUs: 1_000_000, limits, steps };
  const { quick } = await sameInBoth(redis, history, [versionOf(limits[0])], 'client');
  assert.is(quick, 2);
});

test('a window that grants fewer permits than were searched for', async ({ redis }) => {
  const windowOf = (permits: number, interval: number): LimitSpec => ({
    ...{ kind: 'slidingWindow', permits, interval, resolution: 1 },
  });
  const limits = [windowOf(6, 1000), windowOf(4, 2000), windowOf(1, 12_000)];
  const askFor = (client: number, ...runs: [count: number, cost: number[]][]): Step => ({
    ...{ kind: 'reserve', client, horizon: 4000, held: 0 },
    runs: runs.map(([count, cost]) => ({ count, cost, maxWait: Infinity })),
  });
  const steps: Step[] = [
    { kind: 'decide', client: 1, cost: [0, 0, 1] },
    askFor(1, [1, [0, 1, 1]]),
    { kind: 'decide', client: 0, cost: [3, 0, 0] },
    // Ahead of that reservation, two requests together have no room.
    askFor(0, [2, [2, 1, 0]], [1, [2, 0, 0]], [1, [1, 0, 0]]),
  ];
  await sameInBoth(redis, { startUs: 1_000_000, limits, steps }, [{ names: ['', 'b', 'c'], limits }]);
});

test('waits of more than 2^63 microseconds, ahead of a reservation and at a refunded one', async ({
  redis,
}) => {
  const bucket: LimitSpec = { kind: 'tokenBucket', permits: 1, interval: 1e12, burst: 1 };
  const owe = (permits: number[]) => Array<Step>(10).fill({ kind: 'owe', client: 0, permits });
  const askFor = (client: number, cost: number[]): Step => ({
    ...{ kind: 'reserve', client, horizon: 1000, held: 0 },
    runs: [{ count: 1, cost, maxWait: Infinity }],
  });
  const picks = [{ place: 0, count: 1, parts: [100] }];
  const histories: [LimitSpec[], Step[]][] = [
    [
      [bucket, bucket],
      [...owe([1000, 1000]), ...owe([0, 1000]), askFor(0, [1, 1]), askFor(1, [1, 0])],
    ],
    [
      [bucket],
      [...owe([1000]), askFor(0, [1]), askFor(1, [1]), { kind: 'refund', client: 0, picks }, askFor(2, [1])],
    ],
  ];
  for (const [limits, steps] of histories) {
    const names = ['', 'b'].slice(0, limits.length);
    await sameInBoth(redis, { startUs: 1_000_000, limits, steps }, [{ names, limits }]);
  }
});

test.run();
