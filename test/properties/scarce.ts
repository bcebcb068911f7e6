import fc from 'fast-check';
import { client } from './requests.ts';
import { type LimitSpec, record } from './specs.ts';
import type { History, Step } from './steps.ts';

const rate = { permits: fc.integer({ min: 1, max: 3 }), interval: fc.integer({ min: 600, max: 3000 }) };
const limit: fc.Arbitrary<LimitSpec> = fc.oneof(
  record({
    kind: fc.constant('slidingWindow' as const),
    ...rate,
    resolution: fc.integer({ min: 1, max: 20 }),
  }),
  record({
    kind: fc.constant('fixedWindow' as const),
    ...rate,
    align: fc.constantFrom('first' as const, 'epoch' as const),
  }),
  record({ kind: fc.constant('tokenBucket' as const), ...rate, burst: fc.integer({ min: 1, max: 3 }) }),
);

const advance = record({
  kind: fc.constant('advance' as const),
  us: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 1000 }).map((ms) => ms * 1000) },
  ),
});
const reserve = record({
  kind: fc.constant('reserve' as const),
  client,
  maxWait: fc.oneof(
    { weight: 8, arbitrary: fc.constant(Infinity) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 5000 }) },
  ),
  count: fc.integer({ min: 1, max: 2 }),
  horizon: fc.integer({ min: 0, max: 200 }),
  held: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 3000 })),
});
const cancel = record({
  kind: fc.constant('cancel' as const),
  client,
  every: fc.integer({ min: 1, max: 2 }),
  newestFirst: fc.boolean(),
  ahead: fc.constant(false),
});
const decide = record({ kind: fc.constant('decide' as const), client });

/** Histories of clients that request rare permits, and refund most of them. */
export const scarce: fc.Arbitrary<History> = record({
  limits: fc.array(limit, { minLength: 1, maxLength: 2 }),
  steps: fc.array(
    fc.oneof(
      { weight: 5, arbitrary: advance },
      { weight: 6, arbitrary: reserve },
      { weight: 3, arbitrary: cancel },
      { weight: 1, arbitrary: decide },
    ),
    { minLength: 1, maxLength: 80, size: 'max' },
  ),
}).map(({ limits, steps }) => {
  const cost = limits.map(() => 1);
  return {
    startUs: 1_700_000_000_000_000,
    limits,
    steps: steps.map((step): Step => {
      if (step.kind === 'decide') return { ...step, cost };
      if (step.kind !== 'reserve') return step;
      const { count, maxWait, ...rest } = step;
      return { ...rest, runs: [{ count, cost, maxWait }] };
    }),
  };
});
