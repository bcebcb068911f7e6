// Records of which some clients use one limit and others another one, in virtual time: neither of them wait for the others' limit.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { jain } from '../fleet/measures.ts';
import { cases } from '../support/cases.ts';
import { fleetAgainstIdeal, manyWindows } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { contend, type Habits, waits } from './contend.ts';

/** Clients of a limit, and the requests that each keeps queued. */
type Group = readonly [permits: number, interval: number, clients: number, waiting: number];
const records: readonly (readonly [Group, Group])[] = [
  [
    [5, 1000, 1, 50],
    [100, 1000, 1, 50],
  ],
  [
    [10, 10_000, 2, 50],
    [100, 1000, 2, 50],
  ],
  [
    [300, 60_000, 1, 50],
    [1000, 60_000, 1, 50],
  ],
  [
    [1, 3000, 2, 1],
    [10, 1000, 3, 3],
  ],
  [
    [20, 1000, 4, 4],
    [20, 1000, 4, 4],
  ],
];
type LimitOf = (spec: { permits: number; interval: number }) => Limit;
const kinds: LimitOf[] = [slidingWindow, fixedWindow, tokenBucket];

/** The used part of each limit, and how equally its clients share it. */
function measure(limits: readonly Limit[], groups: readonly (readonly Habits[])[]) {
  const interval = Math.max(...limits.map((limit) => limit.interval));
  const span = Math.max(30_000, 3 * interval);
  const during = { roundTrip: 2, jitter: 0.3, warmUp: Math.max(6000, 2 * interval), span, fade: interval };
  const { kept, granted, calls } = contend({ limits, clients: groups.flat(), ...during, seed: 1 });
  const [first] = groups;
  const used = limits.map((limit, i) => {
    const permits = kept.slice(...(i === 0 ? [0, first.length] : [first.length])).map((own) => own[i]);
    const sum = permits.reduce((all, n) => all + n, 0);
    return { part: (sum * limit.interval) / limit.permits / span, jain: jain(permits) };
  });
  return { used, calls: calls / granted };
}

for (const [[a, b], kindOfA, kindOfB] of cases(records, kinds, kinds))
  test(`clients of a ${kindOfA.name} of ${a[0]} in ${a[1]} ms and of a ${kindOfB.name} of ${b[0]} in ${b[1]} ms use both`, () => {
    const limits = [kindOfA, kindOfB].map((of, i) => of({ permits: [a, b][i][0], interval: [a, b][i][1] }));
    const groups = [a, b].map(([, , clients, waiting], i) =>
      Array<Habits>(clients).fill({ ...waits, waiting, costs: [i === 0 ? [1, 0] : [0, 1]] }),
    );
    const { used, calls } = measure(limits, groups);
    for (const { part, jain } of used) {
      assert.ok(part >= 0.98, `${part}`);
      assert.ok(jain >= 0.98, `${jain}`);
    }
    assert.ok(calls <= 1.3, `${calls}`);
  });

// Those that use one limit only do not take the part of those that need a slow one, too.
for (const [secondOf, kind] of [
  [tokenBucket, 'bucket'],
  [fixedWindow, 'fixed window'],
] as const)
  test(`beside clients of a fixed window that refund 30 %, those that also need a ${kind} of few permits use it`, () => {
    const limits = [fixedWindow({ permits: 300, interval: 1000 }), secondOf({ permits: 10, interval: 1000 })];
    const others = { ...waits, waiting: 20, costs: [[1, 0]], refund: 0.3 };
    const clients = [...Array(6).fill(others), ...Array(6).fill({ ...waits, waiting: 4, costs: [[1, 1]] })];
    const { kept } = contend({
      limits,
      clients,
      roundTrip: 2,
      warmUp: 6000,
      span: 24_000,
      fade: 1000,
      seed: 1,
    });
    const used = kept.reduce((sum, [, permits]) => sum + permits, 0) / 240;
    assert.ok(used >= 0.95, `${used}`);
  });

for (const align of ['first', 'epoch'] as const)
  test(`10 clients keep a fixed window of 100 a second, aligned to ${align}, beside a sliding one, and refund 70 % soon`, () => {
    const limits = [
      fixedWindow({ permits: 100, interval: 1000, align }),
      slidingWindow({ permits: 500, interval: 2000 }),
    ];
    const habits = { ...waits, waiting: 20, costs: [[1, 1]], refund: 0.7, refundWithin: 10 };
    const during = { ...manyWindows(limits[1], 15_000), seeds: 8 };
    assertKept(fleetAgainstIdeal(limits, Array(10).fill(habits), during), { part: 0.98, calls: 0.9 });
  });

// After a small request, the pace delays the large one behind it by a moment.
test('12 clients with small and large requests of two windows keep them while permits come back late', () => {
  const limits = [
    slidingWindow({ permits: 10, interval: 200 }),
    fixedWindow({ permits: 1100, interval: 1300 }),
  ];
  const costs = [
    [1, 136],
    [1, 1],
    [1, 9],
  ];
  const habits = { ...waits, waiting: 8, costs, refund: 0.46, part: 0.63, refundWithin: 460 };
  const during = { ...manyWindows(limits[1], 20_000), seeds: 8 };
  assertKept(fleetAgainstIdeal(limits, Array(12).fill(habits), during), {
    part: 0.95,
    jain: 0.98,
    calls: 1.2,
  });
});

// A reservation for the next window of one limit lies in a window of the other one that does not begin before it.
test('two clients of two fixed windows use what comes back late, although these do not begin together', () => {
  const limits = [fixedWindow({ permits: 5, interval: 245 }), fixedWindow({ permits: 125, interval: 374 })];
  const habits = { ...waits, waiting: 3, costs: [[1, 1]], refund: 0.57, refundWithin: 363 };
  const during = { ...manyWindows(limits[1], 10_000), seeds: 12 };
  assertKept(fleetAgainstIdeal(limits, [habits, habits], during), { part: 0.95, jain: 0.98, calls: 2.5 });
});

// A cancelled reservation leaves permits to requests of other sizes only if the bucket tells what it has until then.
for (const [limitOf, kind, least] of [
  [slidingWindow, 'a sliding window', 0.94],
  [fixedWindow, 'a fixed window', 0.96],
] as const)
  test(`two clients use ${kind} beside a bucket, although they cancel most of their small and large requests`, () => {
    const limits = [
      limitOf({ permits: 57, interval: 708 }),
      tokenBucket({ permits: 260, interval: 248, burst: 260 }),
    ];
    const costs = [
      [10, 4],
      [1, 1],
      [1, 1],
    ];
    const habits = { ...waits, waiting: 5, costs, cancel: 0.83, cancelWithin: 165 };
    const during = { ...manyWindows(limits[0], 10_000), seeds: 8 };
    assertKept(fleetAgainstIdeal(limits, [habits, habits], during), { part: least, jain: 0.99, calls: 1 });
  });

// If small requests left nothing to a large one of several limits, it would never be granted.
test('a large request of two limits is granted beside small ones of which most are refunded', () => {
  const limits = [
    tokenBucket({ permits: 240, interval: 904 }),
    fixedWindow({ permits: 432, interval: 701, align: 'epoch' }),
  ];
  const habits = { ...waits, refund: 0.75, refundWithin: 21 };
  const clients = [
    { ...habits, waiting: 3, costs: [[19, 35]] },
    { ...habits, waiting: 55, costs: [[1, 1]] },
  ];
  const during = { ...manyWindows(limits[0], 20_000), seeds: 8 };
  const { part, jain } = fleetAgainstIdeal(limits, clients, during);
  assert.ok(part >= 0.97, `${part} of the ideal`);
  assert.ok(jain >= 0.65, `Jain's index is ${jain}`);
});

for (const limitOf of [slidingWindow, fixedWindow])
  test(`clients of two windows at once share them whatever their round trips: ${limitOf.name}`, () => {
    const limits = [limitOf({ permits: 50, interval: 1000 }), limitOf({ permits: 200, interval: 5000 })];
    const clients = Array.from({ length: 4 }, (_, i) => ({
      ...waits,
      ...{ waiting: 4, costs: [[1, 1]], roundTrip: i % 2 === 0 ? 1 : 20 },
    }));
    const { used } = measure(limits, [clients]);
    // The second window allows 40 a second.
    assert.ok(used[0].part >= 0.78, `${used[0].part}`);
    assert.ok(used[0].jain >= 0.95, `${used[0].jain}`);
  });

test.run();
