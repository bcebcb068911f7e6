import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import { promise } from '../support/campaign.ts';
import { judge } from './judge.ts';
import { available, openFleet, replay } from './replay.ts';
import { anyLimit, type LimitSpec, mostOf } from './specs.ts';
import type { History, Step } from './steps.ts';

const granting = fc.record({
  limit: anyLimit,
  count: fc.nat(12),
  permits: fc.integer({ min: 1, max: 13 }),
  // A grant within a millisecond is recorded at its end: a release may come before that.
  from: fc.nat(999),
  gap: fc.nat(999),
});

promise(
  'a release refunds what was granted, and no more',
  2000,
  granting,
  ({ limit, count, permits, from, gap }) => {
    const runs = [{ count: count + 1, cost: [1], maxWait: 0 }];
    const reserve: Step = { kind: 'reserve', client: 0, runs, horizon: 0, held: 0 };
    const release: Step = { kind: 'release', client: 1, permits: [permits] };
    const steps: Step[] = [reserve, { kind: 'advance', us: Math.min(gap, 999 - from) }, release];
    // The end of a millisecond may be that of a window on the clock.
    const isOnClock = limit.kind === 'fixedWindow' && limit.align === 'epoch';
    const history: History = { startUs: 1_000_000_000 + (isOnClock ? 0 : from), limits: [limit], steps };
    const fleet = openFleet(history);
    replay(history, fleet);
    const granted = Math.min(count + 1, mostOf(limit));
    assert.deepEqual(available(fleet), [mostOf(limit) - granted + Math.min(permits, granted)]);
  },
);

const reserving = fc.record({
  limit: anyLimit.map((limit): LimitSpec => ({ ...limit, interval: limit.interval * 20 })),
  count: fc.integer({ min: 1, max: 12 }),
  ms: fc.nat(60),
  permits: fc.integer({ min: 1, max: 13 }),
});

promise('a release takes nothing from reservations', 2000, reserving, ({ limit, count, ms, permits }) => {
  // Spaced, so that a window contains both grants and reservations.
  const spacing: LimitSpec = { kind: 'tokenBucket', permits: 1, interval: 5, burst: 1 };
  const reserveFor = (client: number, cost: number[], maxWait: number): Step => {
    return { kind: 'reserve', client, runs: [{ count, cost, maxWait }], horizon: 1e6, held: 0 };
  };
  const steps: Step[] = [
    reserveFor(0, [1, 1], Infinity),
    { kind: 'advance', us: ms * 1000 },
    { kind: 'release', client: 1, permits: [permits, 0] },
    reserveFor(2, [1, 0], 0),
  ];
  const history: History = { startUs: 1_000_000_000, limits: [limit, spacing], steps };
  replay(history, openFleet(history), judge);
});

test.run();
