import * as assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import { overBucket } from '../properties/oracle.ts';
import { promise } from '../support/campaign.ts';
import {
  type BucketStep,
  bucketSteps,
  type Course,
  type Rate,
  rates,
  startBucket,
  take,
} from './bucketLines.ts';

const starts = fc.integer({ min: 0, max: 5000 });

/** Any two grants that stand, and all between them, by the clock in microseconds and by the moments that clients were told. */
function overWindows({ standing, state }: Course): string | undefined {
  const { permits, interval, burst } = state;
  const limit = { kind: 'tokenBucket', permits, interval, burst } as const;
  return (
    overBucket(
      limit,
      standing.map(({ moment, n }) => ({ t: moment, n })),
    ) ??
    overBucket(
      { ...limit, interval: interval * 1000 },
      standing.map(({ us, n }) => ({ t: us, n })),
      1000,
    )
  );
}

function neverOver([rate, us, steps]: [Rate, number, BucketStep[]]): void {
  const course = startBucket(rate, us);
  for (const step of steps) {
    take(course, step);
    assert.equal(overWindows(course), undefined);
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

/**
 * What is owed: at a change all that stood before it is taken, but for what runs in within a millisecond. Each grant since the
 * last change finds what it takes, or what runs in within a millisecond.
 */
function overOwed({ standing, phases }: Course): string | undefined {
  let debt = 0;
  let last = 0;
  for (const [i, { rate, since }] of phases.entries()) {
    const { permits, interval, burst } = rate;
    const end = phases[i + 1]?.since ?? Infinity;
    const run = (t: number) => {
      debt = Math.max(0, debt - ((t - last) * permits) / interval);
      last = t;
    };
    last = since;
    const taken = standing
      .filter(({ phase }) => phase === i + 1)
      .map(({ moment, n }) => ({ t: Math.min(moment, end), n }));
    for (const { t, n } of taken.sort((a, b) => a.t - b.t)) {
      run(t);
      debt += n;
      if (end === Infinity && debt > burst + permits / interval + 1e-9)
        return `${debt} are owed at ${t}, of ${burst}`;
    }
    if (end === Infinity) continue;
    run(end);
    debt = Math.max(0, debt - permits / interval);
  }
  return undefined;
}

promise(
  'after refunds across changes of the rate, a bucket still owes its earlier grants',
  5000,
  fc.tuple(rates, starts, bucketSteps(['take', 'take', 'take', 'refund', 'refund', 'cut', 'adopt'])),
  ([rate, us, steps]) => {
    const course = startBucket(rate, us);
    for (const step of steps) {
      take(course, step);
      assert.equal(overOwed(course), undefined);
    }
  },
);

test.run();
