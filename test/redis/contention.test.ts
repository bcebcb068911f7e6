// Fleets that refund much of what they are granted, as in test/contention: their calls have the same replies in Redis.

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import type { RefundReply } from '../../src/stores/store.ts';
import { bySize, contend, type Habits, half, waits } from '../contention/contend.ts';
import { unlikeFleet } from '../contention/unlikeFleet.ts';
import { usedFleet } from '../contention/usedFleet.ts';
import type { Call, CallReply } from '../properties/calls.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { runsOf } from '../support/campaign.ts';
import { triesAll } from '../support/cases.ts';
import { limitNames } from '../support/limitNames.ts';
import { seed } from '../support/seed.mjs';
import { sharedRedis } from '../support/sharedRedis.ts';
import { sameReplies } from './twins.ts';

const tests = aboutIoredis(test, 'each call is made in a transaction of ioredis');
const shared = sharedRedis(test, { protocol: 2 });

const soon: Habits = { ...waits, refund: 0.9, refundWithin: 5 };
const late: Habits = { ...waits, refund: 0.9, refundWithin: 500 };
const some: Habits = { ...late, refund: 0.6 };
const most: Habits = { ...waits, refund: 0.75, refundWithin: 21 };
const estimates: Habits = { ...waits, waiting: 4, costs: [[10]], refund: 1, part: 0.8, refundWithin: 100 };
const cancels: Habits = { ...some, cancel: 0.5, cancelWithin: 300 };

const sizes: Habits = { ...waits, costs: [[1], [3], [10]], cancel: 0.5, cancelWithin: 9_000 };

const large: Habits = { ...soon, costs: [[1], [2], [5]], refund: 0.6 };

/** Clients of which every second one needs all permits of a slow limit, too, and the others refund a few of a fast one. */
const besideSlow: Habits[] = Array.from({ length: 6 }, (_, i) =>
  i % 2 === 0
    ? { ...waits, waiting: 2, costs: [[1, 20]] }
    : {
        ...waits,
        waiting: 4,
        costs: [
          [1, 0],
          [2, 0],
        ],
        refund: 0.1,
        refundWithin: 300,
      },
);

const settles: Habits = {
  ...late,
  waiting: 20,
  costs: [[2]],
  refund: 0.5,
  part: 0.5,
  excess: 0.5,
  refundWithin: 100,
};

const alike = (habits: Habits, clients: number): Habits[] => Array(clients).fill(habits);

const sliding = (permits: number, interval: number) => slidingWindow({ permits, interval });
const fixed = (permits: number, interval: number) => fixedWindow({ permits, interval });
const bucket = (permits: number, interval: number) => tokenBucket({ permits, interval });

/** Of more calls, the test would take longer than it tells. */
const mostCalls = triesAll ? 1_500 : 450;

/** With seconds of virtual time. */
const cases: [title: string, limits: Limit[], clients: Habits[], seconds: number][] = [
  ['half of 20 clients refund late on a sliding window', [sliding(20, 1_000)], half(late, 20), 15],
  ['half of 20 clients refund late on a fixed window', [fixed(20, 1_000)], half(late, 20), 15],
  ['half of 40 clients refund late on a sliding window', [sliding(30, 500)], half(late, 40), 8],
  ['half of 40 clients refund late on a fixed window', [fixed(50, 1_000)], half(late, 40), 8],
  ['10 clients refund some permits late on a sliding window', [sliding(2, 1_000)], alike(some, 10), 40],
  ['10 clients refund some permits late on a fixed window', [fixed(2, 1_000)], alike(some, 10), 40],
  ['a client wastes permits late beside two others', [sliding(2, 1_000)], [late, waits, waits], 60],
  ['16 clients refund late on a sliding window', [sliding(50, 1_000)], alike(late, 16), 10],
  ['16 clients refund late on a fixed window', [fixed(100, 2_500)], alike(late, 16), 15],
  ['8 clients refund late in short windows', [sliding(5, 20)], alike(late, 8), 4],
  ['8 clients refund soon in short windows', [fixed(5, 100)], alike(soon, 8), 5],
  ['64 clients refund soon on a sliding window', [sliding(20, 1_000)], alike(soon, 64), 8],
  ['16 clients use a fifth of their estimates', [sliding(50, 1_000)], alike(estimates, 16), 10],
  ['16 clients cancel and refund on a bucket', [bucket(50, 1_000)], alike(cancels, 16), 10],
  ['10 clients refund late on a slow bucket', [bucket(1, 1_000)], alike(late, 10), 40],
  ['64 clients refund late on a bucket', [bucket(100, 1_000)], alike(late, 64), 8],
  ['half of 8 clients refund late on a slow bucket', [bucket(2, 1_000)], half(late, 8), 40],
  ['clients cancel requests of several sizes on a bucket', [bucket(10, 5_000)], alike(sizes, 4), 60],
  ['16 clients refund requests for most of a small bucket', [bucket(6, 300)], alike(large, 16), 8],
  ['64 clients refund soon on a fast sliding window', [sliding(150, 1_000)], alike(soon, 64), 5],
  [
    'clients with requests of two sizes refund soon on a sliding window',
    [sliding(100, 1_000)],
    bySize({ refund: 0.5 }, [1, 25], 4, 100),
    15,
  ],
  [
    'clients with requests of two sizes refund late on a fixed window',
    [fixed(100, 1_000)],
    bySize({ refund: 0.6, refundWithin: 500 }, [5, 50], 4, 100),
    15,
  ],
  [
    'clients with requests of two sizes refund most on a bucket',
    [bucket(100, 1_000)],
    bySize({ refund: 0.9, refundWithin: 60 }, [1, 20], 2, 100),
    6,
  ],
  [
    'clients with slow and fast requests refund much on a bucket',
    [bucket(100, 1_000)],
    bySize({ refund: 0.8, refundWithin: 100 }, [1, 5], 6, 100),
    8,
  ],
  [
    'clients with large and small requests of two limits refund much',
    [bucket(240, 904), fixed(432, 701)],
    [
      { ...most, waiting: 3, costs: [[19, 35]] },
      { ...most, waiting: 55, costs: [[1, 1]] },
    ],
    8,
  ],
  [
    'clients of a fast sliding window beside those that wait for a slow one',
    [sliding(20, 1_000), sliding(20, 20_000)],
    besideSlow,
    20,
  ],
  [
    'clients of a sliding window beside those that wait for a slower one a little longer',
    [sliding(20, 6_000), sliding(20, 8_000)],
    besideSlow,
    40,
  ],
  [
    'clients of a fast fixed window beside those that wait for a slow bucket',
    [fixed(20, 1_000), bucket(20, 20_000)],
    besideSlow,
    20,
  ],
  [
    'clients of a fast window on the clock beside those that wait for a slow one',
    [fixedWindow({ permits: 20, interval: 1_000, align: 'epoch' }), fixed(20, 20_000)],
    besideSlow,
    20,
  ],
  ['a client settles in windows of five seconds', [fixed(100, 5_000)], alike(settles, 1), 40],
  ['8 clients settle in windows of five seconds', [sliding(100, 5_000)], alike(settles, 8), 15],
  ['3 clients settle on a bucket of five seconds', [bucket(100, 5_000)], alike(settles, 3), 30],
  ['8 clients refund late in a long window', [sliding(50, 12_000)], alike(some, 8), 40],
  [
    'clients of several limits refund late',
    [sliding(20, 1_000), fixed(5, 2_000)],
    [...alike({ ...some, costs: [[1, 0]] }, 10), ...alike({ ...waits, costs: [[1, 1]] }, 2)],
    15,
  ],
];

/** The replies to the calls of a fleet, the same in Redis and in memory. */
function repliesTo(
  limits: readonly Limit[],
  clients: readonly Habits[],
  seconds: number,
): Promise<CallReply[]> {
  const calls: Call[] = [];
  const contention = { limits, clients, roundTrip: 2, jitter: 0.3, warmUp: 0, span: seconds * 1_000 };
  contend({ ...contention, seed: 1 }, (call) => calls.push(call));
  return sameReplies(shared.redis, { names: limitNames(limits), limits }, calls.slice(0, mostCalls));
}

for (const [title, limits, clients, seconds] of cases)
  tests(title, async () => {
    const replies = await repliesTo(limits, clients, seconds);
    const restored = replies.flatMap((reply) => (reply as RefundReply).restored ?? []);
    assert.ok(restored.includes(true), `none of ${restored.length} refunds restored permits`);
  });

tests('any fleet', async () => {
  for (let i = 0; i < runsOf(10); i++) {
    const { limits, clients, habits, name } = usedFleet(seed() + i);
    const unlike = unlikeFleet(seed() + i);
    for (const fleet of [
      { limits, clients: alike(habits, clients), name },
      { ...unlike, limits: [unlike.limit] },
    ])
      await repliesTo(fleet.limits, fleet.clients, 10).catch((error) => {
        throw new Error(`SLUICE_SEED=${seed() + i} SLUICE_RUNS=1: ${fleet.name}`, { cause: error });
      });
  }
});

test.run();
