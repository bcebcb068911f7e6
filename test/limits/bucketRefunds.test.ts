import * as assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import { overBucket } from '../properties/oracle.ts';
import { record } from '../properties/specs.ts';
import { promise } from '../support/campaign.ts';
import {
  type BucketHistory,
  type BucketStep,
  bucketSteps,
  type Rate,
  rates,
  startBucket,
  take,
} from './bucketSteps.ts';

const starts = fc.integer({ min: 0, max: 5000 });
const smallRates = record({
  permits: fc.integer({ min: 1, max: 8 }),
  interval: fc.integer({ min: 8, max: 60 }),
  burst: fc.integer({ min: 4, max: 16 }),
});

const slowRates = record({
  permits: fc.integer({ min: 1, max: 4 }),
  interval: fc.integer({ min: 5, max: 40 }),
  burst: fc.integer({ min: 1, max: 8 }),
});

/** Checks any two grants, with all between them, by the clock in microseconds and by the moments in the replies. */
function overSpans({ grants, state }: BucketHistory): string | undefined {
  const { permits, interval, burst } = state;
  const limit = { kind: 'tokenBucket', permits, interval, burst } as const;
  return (
    overBucket(
      limit,
      grants.map(({ moment, n }) => ({ t: moment, n })),
    ) ??
    overBucket(
      { ...limit, interval: interval * 1000 },
      grants.map(({ us, n }) => ({ t: us, n })),
      1000,
    )
  );
}

function neverOver([rate, us, steps]: [Rate, number, BucketStep[]]): void {
  const history = startBucket(rate, us);
  for (const step of steps) {
    take(history, step);
    assert.equal(overSpans(history), undefined);
  }
}

promise(
  'after any refunds, any two remaining grants of a bucket keep its bound',
  5000,
  fc.tuple(rates, starts, bucketSteps(['take', 'take', 'refund'])),
  neverOver,
);

promise(
  'after any refunds, releases and voided reservations, any two remaining grants of a bucket keep its bound',
  5000,
  fc.tuple(rates, starts, bucketSteps(['take', 'take', 'take', 'refund', 'refund', 'release', 'cut'])),
  neverOver,
);

// Of a bucket that is never full, a long history has steps of more than an eighth of it.
promise(
  'after many grants of a small bucket that is nearly empty, and refunds of any of them, any two remaining ones keep its bound',
  1000,
  fc.tuple(smallRates, starts, bucketSteps(['take', 'take', 'refund'], 200)),
  ([rate, us, steps]) => {
    const history = startBucket(rate, us);
    // So soon that the bucket does not fill.
    const most = (1.2 * 1000 * rate.interval) / rate.permits;
    for (const step of steps)
      take(history, { ...step, permits: 1, later: 0, us: Math.floor(step.us % most) });
    assert.equal(overSpans(history), undefined);
  },
);

/**
 * Checks the debt of a bucket: a change charges all earlier grants, less the refill of one millisecond. For each grant since the
 * last change, the bucket contains enough permits, with the refill of one millisecond.
 */
function overDebt({ grants, phases }: BucketHistory): string | undefined {
  let debt = 0;
  let last = 0;
  for (const [i, { rate, since }] of phases.entries()) {
    const { permits, interval, burst } = rate;
    const end = phases[i + 1]?.since ?? Infinity;
    const refill = (t: number) => {
      debt = Math.max(0, debt - ((t - last) * permits) / interval);
      last = t;
    };
    last = since;
    const taken = grants
      .filter(({ phase }) => phase === i + 1)
      .map(({ moment, n }) => ({ t: Math.min(moment, end), n }));
    for (const { t, n } of taken.sort((a, b) => a.t - b.t)) {
      refill(t);
      debt += n;
      if (end === Infinity && debt > burst + permits / interval + 1e-9)
        return `${debt} are owed at ${t}, of ${burst}`;
    }
    if (end === Infinity) continue;
    refill(end);
    debt = Math.max(0, debt - permits / interval);
  }
  return undefined;
}

promise(
  'after refunds across changes of the rate, a bucket still owes its earlier grants',
  5000,
  fc.tuple(rates, starts, bucketSteps(['take', 'take', 'take', 'refund', 'refund', 'cut', 'adopt'])),
  ([rate, us, steps]) => {
    const history = startBucket(rate, us);
    for (const step of steps) {
      take(history, step);
      assert.equal(overDebt(history), undefined);
    }
  },
);

// Many reservations of small buckets, and rates that follow each other soon.
promise(
  'after refunds of reservations across changes of the rate, a bucket still owes its earlier grants',
  5000,
  fc.tuple(
    slowRates,
    starts,
    bucketSteps(['take', 'take', 'take', 'refund', 'refund', 'refund', 'release', 'cut', 'adopt'], 30),
    fc.array(slowRates, { minLength: 30, maxLength: 30 }),
    fc.integer({ min: 1000, max: 60_000 }),
  ),
  ([rate, start, steps, changed, most]) => {
    const history = startBucket(rate, start);
    for (const [i, step] of steps.entries()) {
      const us = step.kind === 'take' && step.place < 60 ? 0 : step.us % most;
      take(history, {
        ...step,
        rate: changed[i],
        permits: 1 + (step.permits % 4),
        us,
        waits: step.place > 20,
      });
      assert.equal(overDebt(history), undefined);
    }
  },
);

promise(
  'after refunds of grants from before a change to the same rate, any two remaining ones keep the bound of the bucket',
  5000,
  fc.tuple(rates, starts, bucketSteps(['take', 'take', 'take', 'refund', 'refund', 'cut', 'adopt'])),
  ([rate, us, steps]) => neverOver([rate, us, steps.map((step): BucketStep => ({ ...step, rate }))]),
);

/** The history of a small bucket that is never full: what is refunded is bounded by the refill before the changes. */
function nearlyEmpty(
  rate: Rate,
  us: number,
  steps: BucketStep[],
  rateOf: (place: number) => Rate,
): BucketHistory {
  const history = startBucket(rate, us);
  const most = (1.2 * 1000 * rate.interval) / rate.permits;
  for (const step of steps) {
    const n = 1 + (step.permits % 5);
    const soon = Math.floor(step.us % (n * most));
    take(history, { ...step, permits: n, later: 0, us: soon, rate: rateOf(step.place) });
  }
  return history;
}

const withChanges = fc.tuple(
  smallRates,
  starts,
  bucketSteps(['take', 'take', 'take', 'refund', 'refund', 'adopt'], 60),
);

promise(
  'after refunds from before a change to an equal rate in other units, any two remaining grants of a bucket keep its bound',
  3000,
  withChanges,
  ([rate, us, steps]) => {
    const { permits, interval } = rate;
    const history = nearlyEmpty(rate, us, steps, (place) => {
      const factor = 1 + (place % 3);
      return { ...rate, permits: permits * factor, interval: interval * factor };
    });
    assert.equal(overSpans(history), undefined);
  },
);

promise(
  'after refunds from before several changes, a bucket that is nearly empty still owes its earlier grants',
  3000,
  withChanges,
  ([rate, us, steps]) => {
    const rateOf = (place: number) => ({ ...rate, permits: rate.permits * [1, 1, 5][place % 3] });
    assert.equal(overDebt(nearlyEmpty(rate, us, steps, rateOf)), undefined);
  },
);

test.run();
