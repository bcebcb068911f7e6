// Records of which some clients use one limit and others another one, in virtual time: neither of them wait for the others' limit.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { jain } from '../fleet/measures.ts';
import { cases } from '../support/cases.ts';
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

/** Each group uses one limit, and refunds this part of its permits within `refundWithin` ms. */
function together(
  [a, b]: readonly [Group, Group],
  kindsOf: readonly [LimitOf, LimitOf],
  refund = 0,
  refundWithin = 1,
) {
  const limits = [a, b].map(([permits, interval], i) => kindsOf[i]({ permits, interval }));
  const groups = [a, b].map(([, , clients, waiting], i) =>
    Array<Habits>(clients).fill({
      ...{ ...waits, waiting, refund, refundWithin },
      costs: [i === 0 ? [1, 0] : [0, 1]],
    }),
  );
  return measure(limits, groups);
}

for (const [[a, b], kindOfA, kindOfB] of cases(records, kinds, kinds))
  test(`clients of a ${kindOfA.name} of ${a[0]} in ${a[1]} ms and of a ${kindOfB.name} of ${b[0]} in ${b[1]} ms use both`, () => {
    const { used, calls } = together([a, b], [kindOfA, kindOfB]);
    for (const { part, jain } of used) {
      assert.ok(part >= 0.98, `${part}`);
      assert.ok(jain >= 0.98, `${jain}`);
    }
    assert.ok(calls <= 1.3, `${calls}`);
  });

// A sliding window cannot grant a permit again that comes back late for all of its interval.
for (const kindOfA of kinds)
  for (const [kindOfB, least] of [
    [slidingWindow, 0.77],
    [fixedWindow, 0.9],
    [tokenBucket, 0.95],
  ] as const)
    test(`clients of a ${kindOfB.name} of 20 a second that refund half use it beside some that wait for a ${kindOfA.name}`, () => {
      const record = [
        [1, 3000, 2, 1],
        [20, 1000, 3, 3],
      ] as const;
      const { used, calls } = together(record, [kindOfA, kindOfB], 0.5, 300);
      assert.ok(used[1].part >= least, `${used[1].part}`);
      assert.ok(used[1].jain >= 0.95, `${used[1].jain}`);
      assert.ok(calls <= 2.8, `${calls}`);
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
