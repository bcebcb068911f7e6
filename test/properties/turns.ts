import fc from 'fast-check';
import { client } from './requests.ts';
import { type LimitSpec, record } from './specs.ts';
import type { History, Step } from './steps.ts';

const permits = fc.integer({ min: 70, max: 120 });
const interval = fc.integer({ min: 3000, max: 6000 });
const window: fc.Arbitrary<LimitSpec> = fc.oneof(
  record({
    kind: fc.constant('slidingWindow' as const),
    ...{ permits, interval, resolution: fc.integer({ min: 1, max: 20 }) },
  }),
  record({
    kind: fc.constant('fixedWindow' as const),
    ...{ permits, interval, align: fc.constantFrom('first' as const, 'epoch' as const) },
  }),
);
/** So many of the permits that a window is full after the first grants. */
const full = 120;

const advance = record({
  kind: fc.constant('advance' as const),
  us: fc.oneof(
    fc.integer({ min: 0, max: 20_000 }),
    fc.integer({ min: 50, max: 1200 }).map((ms) => ms * 1000),
  ),
});
const reserve = record({
  kind: fc.constant('reserve' as const),
  client,
  maxWait: fc.oneof(
    { weight: 8, arbitrary: fc.constant(Infinity) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 5000 }) },
  ),
  count: fc.integer({ min: 1, max: 40 }),
  horizon: fc.integer({ min: 0, max: 200 }),
  held: fc.constant(0),
});
const cancel = record({
  kind: fc.constant('cancel' as const),
  client,
  every: fc.integer({ min: 1, max: 8 }),
  newestFirst: fc.boolean(),
  ahead: fc.constant(false),
});
const decide = record({ kind: fc.constant('decide' as const), client });

/** Histories of clients that wait for windows that were used up at once, and whose permits come back meanwhile. */
export const takingTurns: fc.Arbitrary<History> = record({
  limits: fc.array(window, { minLength: 1, maxLength: 2 }),
  steps: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: advance },
      { weight: 6, arbitrary: reserve },
      { weight: 3, arbitrary: cancel },
      { weight: 1, arbitrary: decide },
    ),
    { minLength: 1, maxLength: 80, size: 'max' },
  ),
}).map(({ limits, steps }) => {
  const cost = limits.map(() => 1);
  const first: Step = {
    kind: 'reserve',
    ...{ client: 0, runs: [{ count: full, cost, maxWait: 0 }], horizon: 20, held: 0 },
  };
  return {
    startUs: 1_700_000_000_000_000,
    limits,
    steps: [
      first,
      ...steps.map((step): Step => {
        if (step.kind === 'decide') return { ...step, cost };
        if (step.kind !== 'reserve') return step;
        const { count, maxWait, ...rest } = step;
        return { ...rest, runs: [{ count, cost, maxWait }] };
      }),
    ],
  };
});
