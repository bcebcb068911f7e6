// Histories that random ones seldom or never meet: sums that are exactly zero, and searches that continue after a change.
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

test.run();
