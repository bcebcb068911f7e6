import type fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { closedAhead } from '../properties/closedAhead.ts';
import { differentNeeds } from '../properties/differentNeeds.ts';
import { histories, historiesOf } from '../properties/history.ts';
import { manyGrants } from '../properties/manyGrants.ts';
import { scaled } from '../properties/scaled.ts';
import { scarce } from '../properties/scarce.ts';
import * as specs from '../properties/specs.ts';
import type { History, Step } from '../properties/steps.ts';
import { takingTurns } from '../properties/turns.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { promise } from '../support/campaign.ts';
import { limitNames } from '../support/limitNames.ts';
import { sharedRedis } from '../support/sharedRedis.ts';
import { longLines } from './longLines.ts';
import { meeting } from './meetings.ts';
import {
  calm,
  changing,
  longLogs,
  steered,
  steeredBuckets,
  thousandsOfEntries,
  vast,
} from './twinHistories.ts';
import { clientsOfVersion, sameInBoth, type Tally } from './twins.ts';

const tests = aboutIoredis(test, 'each call is made in a transaction of ioredis');
const shared = sharedRedis(test, { protocol: 2 });

/** The calls of the histories that seldom reach their limit, by title. */
const tallies = new Map<string, Tally>();

function compare<T>(
  title: string,
  runs: number,
  values: fc.Arbitrary<T>,
  check: (value: T) => Promise<void>,
): void {
  promise(title, runs, values, check, { tests });
}

/** Compares the twins with the scripts' fast path, and in some runs without it. */
function same(title: string, runs: number, histories: fc.Arbitrary<History>): void {
  const values = meeting(histories);
  const tally: Tally = { calls: 0, quick: 0 };
  if (title.includes('seldom')) tallies.set(title, tally);
  compare(title, runs, values, async (history) => {
    const config = [{ names: limitNames(history.limits), limits: history.limits }];
    const { calls, quick } = await sameInBoth(shared.redis, history, config);
    tally.calls += calls;
    tally.quick += quick;
  });
  compare(`${title}, without the fast path`, Math.ceil(runs / 5), values, async (history) => {
    const config = [{ names: limitNames(history.limits), limits: history.limits }];
    assert.is((await sameInBoth(shared.redis, history, config, 'fleet', 'slow')).quick, 0);
  });
}

const one = (limit: fc.Arbitrary<specs.LimitSpec>) =>
  scaled(historiesOf(limit, { debts: true, batches: true }));

same('a sliding window is the same in Lua and in TypeScript', 150, one(specs.exactSlidingWindows));
same('a sliding window of slots is the same in Lua and in TypeScript', 150, one(specs.coarseSlidingWindows));
same('a fixed window is the same in Lua and in TypeScript', 150, one(specs.fixedWindows('first')));
same('an aligned fixed window is the same in Lua and in TypeScript', 100, one(specs.fixedWindows('epoch')));
same('a token bucket is the same in Lua and in TypeScript', 150, one(specs.tokenBuckets));
same(
  'up to three limits together are the same in Lua and in TypeScript',
  200,
  scaled(histories(specs.fewLimits, { debts: true, batches: true })),
);
for (const [kind, limit] of [
  ['a sliding window', specs.exactSlidingWindows],
  ['a sliding window of slots', specs.coarseSlidingWindows],
  ['a fixed window', specs.fixedWindows('first')],
  ['a fixed window on the clock', specs.fixedWindows('epoch')],
  ['a token bucket', specs.tokenBuckets],
] as const)
  same(`${kind} that seldom reaches its limit is the same in Lua and in TypeScript`, 100, calm(limit));
same('rare permits, most of them refunded, are the same in Lua and in TypeScript', 150, scarce);
same(
  'windows whose permits come back while clients wait are the same in Lua and in TypeScript',
  100,
  takingTurns,
);
same(
  'records whose clients need different limits are the same in Lua and in TypeScript',
  200,
  differentNeeds,
);
same('buckets with long histories are the same in Lua and in TypeScript', 150, manyGrants);
same('long lines of reservations are the same in Lua and in TypeScript', 300, longLines);
same('numbers of any size are the same in Lua and in TypeScript', 150, vast);
same('a log of many entries is the same in Lua and in TypeScript', 80, longLogs);

compare(
  'limits whose options and names change are the same in Lua and in TypeScript',
  500,
  changing,
  async ({ history, versions }) => void (await sameInBoth(shared.redis, history, versions)),
);

for (const scope of ['fleet', 'client'] as const)
  compare(
    `stored rates, pauses, releases and resets are the same in Lua and in TypeScript, for each ${scope}`,
    200,
    steered,
    async ({ history, versions }) => void (await sameInBoth(shared.redis, history, versions, scope)),
  );

compare(
  'successive buckets and their stored rates are the same in Lua and in TypeScript',
  200,
  steeredBuckets,
  async ({ history, versions }) => void (await sameInBoth(shared.redis, history, versions)),
);

tests('the fast path serves many of the calls, for each kind of limit', () => {
  assert.is(tallies.size, 5);
  for (const [title, { calls, quick }] of tallies)
    assert.ok(quick >= calls / 10, `${title}: ${quick} of ${calls}`);
});

tests('the fast path serves clients that know the stored rate, or have the same one', async () => {
  const limits = [{ kind: 'fixedWindow', permits: 5, interval: 1000, align: 'first' } as const];
  const take: Step = { kind: 'decide', client: 0, cost: [1] };
  const store: Step = { kind: 'setRate', client: 0, limits, ifAbsent: false, keepState: true };
  const other: Step = { ...take, client: 1 };
  const history = { startUs: 1_000_000, limits, steps: [store, take, take, other, other] };
  const { quick } = await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
  assert.ok(quick >= 3, `${quick} of 4`);
});

tests(
  'a window that is opened and closed ahead of a step of the clock is the same in Lua and in TypeScript',
  async () => {
    const { limits } = closedAhead;
    await sameInBoth(shared.redis, closedAhead, [{ names: limitNames(limits), limits }]);
  },
);

for (const [before, after] of [
  [
    { kind: 'tokenBucket', permits: 3, interval: 500, burst: 10 },
    { kind: 'tokenBucket', permits: 3, interval: 500, burst: 1 },
  ],
  [
    { kind: 'slidingWindow', permits: 3, interval: 500, resolution: 50 },
    { kind: 'slidingWindow', permits: 3, interval: 500, resolution: 5 },
  ],
] as const)
  tests(`a limit is not taken for another one whose text begins with its own: ${before.kind}`, async () => {
    const versions = [before, after].map((limit) => ({ names: [''], limits: [limit] }));
    const steps: Step[] = [0, 0, clientsOfVersion, clientsOfVersion].flatMap((client) => [
      { kind: 'decide', client, cost: [1] },
      { kind: 'advance', us: 7_000 },
    ]);
    await sameInBoth(shared.redis, { startUs: 1_000_000, limits: [before], steps }, versions);
  });

for (const limit of [
  { kind: 'slidingWindow', permits: 3, interval: 500, resolution: 1 },
  { kind: 'fixedWindow', permits: 3, interval: 500, align: 'first' },
  { kind: 'fixedWindow', permits: 3, interval: 500, align: 'epoch' },
  { kind: 'tokenBucket', permits: 3, interval: 500, burst: 3 },
] as const)
  tests(`more than a limit has is refused before and after its ledger expires: ${limit.kind}`, async () => {
    const expire: Step = { kind: 'advance', us: 5_000_000 };
    const ask = (count: number, cost: number): Step[] => [
      { kind: 'reserve', client: 0, runs: [{ count, cost: [cost], maxWait: 0 }], horizon: 20, held: 0 },
      { kind: 'decide', client: 1, cost: [count * cost] },
    ];
    const steps = [1, 3, 4].flatMap((n) => [...ask(1, n), expire, ...ask(n, 1), expire]);
    const history = { startUs: 1_000_000, limits: [limit], steps };
    await sameInBoth(shared.redis, history, [{ names: [''], limits: [limit] }]);
  });

for (const limit of [
  { kind: 'slidingWindow', permits: 3, interval: 1000, resolution: 1 },
  { kind: 'fixedWindow', permits: 3, interval: 1000, align: 'first' },
  { kind: 'tokenBucket', permits: 3, interval: 1000, burst: 3 },
] as const)
  tests(`each kind of call just before and after permits are free: ${limit.kind}`, async () => {
    const wait = (ms: number): Step => ({ kind: 'advance', us: ms * 1000 });
    const decide: Step = { kind: 'decide', client: 0, cost: [1] };
    const runs = [{ count: 1, cost: [1], maxWait: 0 }];
    const reserve: Step = { kind: 'reserve', client: 1, runs, horizon: 20, held: 0 };
    // The two permits are free again at 1000 and 1010; a window's entry may stay for an eighth of its interval more.
    for (const at of [333, 334, 666, 667, 999, 1000, 1001, 1009, 1010, 1011, 1124, 1125, 1126])
      for (const call of [decide, reserve]) {
        const history = {
          ...{ startUs: 1_000_000, limits: [limit] },
          steps: [decide, wait(10), decide, wait(at - 10), call, { ...call, client: 2 }, decide],
        };
        await sameInBoth(shared.redis, history, [{ names: [''], limits: [limit] }]);
      }
  });

tests('a pause that ends with the one in force leaves its beginning as it was', async () => {
  const pause = (ms: number): Step => ({ kind: 'pause', client: 0, ms });
  const second: Step = { kind: 'advance', us: 1_000_000 };
  const { limits } = thousandsOfEntries();
  const steps = [pause(5000), second, pause(4000), second, pause(2999), second, pause(2001)];
  const history = { startUs: 0, limits, steps };
  await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
});

tests('the record of a lifted pause is removed in Lua and in TypeScript', async () => {
  const { limits } = thousandsOfEntries();
  const forget: Step = { kind: 'forget', client: 0, rate: false };
  const pause: Step = { kind: 'pause', client: 0, ms: 1000 };
  const steps = [pause, forget, { kind: 'advance', us: 5_000_000 } as const, forget, forget];
  const history = { startUs: 0, limits, steps };
  await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
});

tests('a log from which one call removes a single entry is the same in Lua and in TypeScript', async () => {
  const wait = (ms: number): Step => ({ kind: 'advance', us: ms * 1000 });
  const take: Step = { kind: 'decide', client: 0, cost: [1] };
  const peek: Step = { kind: 'peek', client: 1 };
  const limits = [{ kind: 'slidingWindow', permits: 5, interval: 1000, resolution: 1 } as const];
  const steps = [take, wait(10), take, wait(10), take, wait(985), peek, wait(8), peek, take];
  const history = { startUs: 1_000_000, limits, steps };
  await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
});

tests(
  'a log is the same in Lua and in TypeScript after a release that empties more entries than it removes',
  async () => {
    const wait = (ms: number): Step => ({ kind: 'advance', us: ms * 1000 });
    const peek: Step = { kind: 'peek', client: 1 };
    const limits = [{ kind: 'slidingWindow', permits: 200, interval: 1000, resolution: 1 } as const];
    const takes = Array.from({ length: 100 }, (): Step[] => [
      { kind: 'decide', client: 0, cost: [2] },
      wait(1),
    ]);
    // Of 75 entries all permits, and of the one before them the half.
    const release: Step = { kind: 'release', client: 0, permits: [151] };
    const expiry = Array.from({ length: 40 }, () => [wait(1), peek]);
    const steps = [...takes.flat(), release, peek, wait(899), ...expiry.flat()];
    const history = { startUs: 1_000_000, limits, steps };
    await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
  },
);

tests('permits that expire when a window is replaced by one of another kind do not carry over', async () => {
  const wait = (ms: number): Step => ({ kind: 'advance', us: ms * 1000 });
  const take = (client: number): Step => ({ kind: 'decide', client, cost: [1] });
  const rate = { permits: 5, interval: 1000 };
  const versions = [
    { names: [''], limits: [{ kind: 'slidingWindow', ...rate, resolution: 1 } as const] },
    { names: [''], limits: [{ kind: 'fixedWindow', ...rate, align: 'first' } as const] },
  ];
  const steps = [take(0), wait(10), take(0), wait(990), take(clientsOfVersion)];
  await sameInBoth(shared.redis, { startUs: 1_000_000, limits: versions[0].limits, steps }, versions);
});

tests('two grants of a bucket within a millisecond are the same in Lua and in TypeScript', async () => {
  const take: Step = { kind: 'decide', client: 0, cost: [1] };
  const limits = [{ kind: 'tokenBucket', permits: 10, interval: 1000, burst: 10 } as const];
  const steps: Step[] = [take, { kind: 'advance', us: 500 }, take, { kind: 'advance', us: 100_000 }, take];
  const history = { startUs: 1_000_000, limits, steps };
  await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
});

tests(
  'a request that does not fit is remembered in Lua and in TypeScript when its client no longer waits',
  async () => {
    const wait = (ms: number): Step => ({ kind: 'advance', us: ms * 1000 });
    const ask = (client: number, count: number, maxWait: number): Step => ({
      kind: 'reserve',
      client,
      runs: [{ count, cost: [1], maxWait }],
      horizon: 0,
      held: 0,
    });
    const refund = (client: number): Step => ({
      kind: 'refund',
      client,
      picks: [{ place: 0, count: 1, parts: [100, 100, 100] }],
    });
    const limits = [{ kind: 'tokenBucket', permits: 1, interval: 2000, burst: 1 } as const];
    const steps: Step[] = [
      ask(0, 2, 2000),
      ask(1, 1, Number.POSITIVE_INFINITY),
      refund(1),
      { kind: 'owe', client: 0, permits: [1] },
      wait(4000),
      refund(0),
      wait(100_000),
    ];
    const history = { startUs: 0, limits, steps };
    await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
  },
);

tests('a step back of the clock by a millisecond is the same in Lua and in TypeScript', async () => {
  const take: Step = { kind: 'decide', client: 0, cost: [1] };
  const limits = [{ kind: 'slidingWindow', permits: 5, interval: 1000, resolution: 1 } as const];
  const steps: Step[] = [
    take,
    { kind: 'stepBack', ms: 1 },
    take,
    { kind: 'advance', us: 998_000 },
    take,
    take,
  ];
  const history = { startUs: 1_000_000, limits, steps };
  await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
});

tests('a fixed window whose permits were all refunded is the same in Lua and in TypeScript', async () => {
  const take: Step = {
    ...{ kind: 'reserve', client: 0, runs: [{ count: 1, cost: [1], maxWait: Number.POSITIVE_INFINITY }] },
    ...{ horizon: 20, held: 0 },
  };
  const refund: Step = {
    ...{ kind: 'refund', client: 0, picks: [{ place: 0, count: 1, parts: [100, 100, 100] }] },
  };
  const wait: Step = { kind: 'advance', us: 400_000 };
  const limits = [{ kind: 'fixedWindow', permits: 2, interval: 1000, align: 'first' } as const];
  const steps = [take, refund, wait, take, wait, wait, take, take];
  const history = { startUs: 1_000_000, limits, steps };
  await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
});

tests('a slot that begins with the first void moment is the same in Lua and in TypeScript', async () => {
  const window = { kind: 'slidingWindow', permits: 1, interval: 2500, resolution: 500 } as const;
  const ask: Step = {
    ...{ kind: 'reserve', client: 0, runs: [{ count: 2, cost: [1], maxWait: Number.POSITIVE_INFINITY }] },
    ...{ horizon: 10_000, held: 0 },
  };
  const raise: Step = {
    ...{ kind: 'setRate', client: 0, limits: [{ ...window, permits: 2 }], ifAbsent: false, keepState: true },
  };
  const history = { startUs: 1_000_000, limits: [window], steps: [ask, raise, ask] };
  await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits: [window] }]);
});

tests('a fixed window whose only permit is released is the same in Lua and in TypeScript', async () => {
  const take: Step = { kind: 'decide', client: 0, cost: [1] };
  const release: Step = { kind: 'release', client: 0, permits: [1] };
  const wait: Step = { kind: 'advance', us: 400_000 };
  const limits = [{ kind: 'fixedWindow', permits: 2, interval: 1000, align: 'first' } as const];
  const steps = [take, wait, wait, wait, take, wait, release, wait, take, wait, take];
  const history = { startUs: 1_000_000, limits, steps };
  await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits }]);
});

tests('a log of thousands of entries is the same in Lua and in TypeScript', async () => {
  const history = thousandsOfEntries();
  await sameInBoth(shared.redis, history, [{ names: limitNames(history.limits), limits: history.limits }]);
});

test.run();
