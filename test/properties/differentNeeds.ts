import fc from 'fast-check';
import { batch, cancel, owe, peek, refund, resend, sliced, stepBack } from './history.ts';
import { client, costOf } from './requests.ts';
import { type LimitSpec, record } from './specs.ts';
import type { History, Step } from './steps.ts';

function limitOf(permits: fc.Arbitrary<number>, interval: fc.Arbitrary<number>): fc.Arbitrary<LimitSpec> {
  return fc.oneof(
    record({
      kind: fc.constant('slidingWindow' as const),
      ...{ permits, interval, resolution: fc.constantFrom(1, 1, 2, 7) },
    }).map((spec) => ({ ...spec, resolution: Math.min(spec.resolution, spec.interval) })),
    record({
      kind: fc.constant('fixedWindow' as const),
      ...{ permits, interval, align: fc.constantFrom('first' as const, 'epoch' as const) },
    }),
    record({ kind: fc.constant('tokenBucket' as const), permits, interval, burst: permits }),
  );
}

const fast = fc.oneof(
  limitOf(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 30 })),
  limitOf(fc.integer({ min: 5, max: 60 }), fc.integer({ min: 50, max: 1000 })),
);
const slow = limitOf(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 100, max: 9000 }));

/** The permits of a request: those of the slow limit are often none. */
const cost = record({
  fast: fc.constantFrom(0, 1, 1, 1, 2, 3, 5),
  other: fc.constantFrom(0, 1, 2),
  slow: fc.constantFrom(0, 0, 0, 1, 1, 2),
});
const reserve = record({
  kind: fc.constant('reserve' as const),
  client,
  runs: fc.array(
    record({
      count: fc.oneof(
        { weight: 3, arbitrary: fc.integer({ min: 1, max: 5 }) },
        fc.integer({ min: 1, max: 60 }),
      ),
      cost,
      maxWait: fc.constantFrom(0, 0.001, 2, 50, 1000, ...Array<number>(5).fill(Infinity)),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  horizon: fc.constantFrom(0, 2, 20, 20, 20, 200),
  held: fc.constantFrom(0, 0, 0, 20),
  earlier: fc.constantFrom(false, false, false, true),
});
const decide = record({ kind: fc.constant('decide' as const), client, cost, inLine: fc.boolean() });
const advance = record({
  kind: fc.constant('advance' as const),
  us: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 30 }).map((ms) => ms * 1000) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 2500 }).map((ms) => ms * 1000) },
  ),
});

/** Histories of records of a slow limit and one or two fast ones, whose clients need different limits. */
export const differentNeeds: fc.Arbitrary<History> = record({
  slow,
  fast: fc.array(fast, { minLength: 1, maxLength: 2 }),
  isFirst: fc.boolean(),
  steps: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: advance },
      { weight: 8, arbitrary: reserve },
      { weight: 2, arbitrary: decide },
      { weight: 2, arbitrary: cancel },
      { weight: 2, arbitrary: refund },
      { weight: 2, arbitrary: fc.oneof(batch, peek, owe, resend, stepBack) },
    ),
    { minLength: 5, maxLength: 60, size: 'max' },
  ),
}).map(({ slow, fast, isFirst, steps }) => {
  const limits = isFirst ? [slow, ...fast] : [...fast, slow];
  const costFor = (needs: { fast: number; other: number; slow: number }) => {
    const others = [needs.fast, needs.other].slice(0, fast.length);
    return costOf(isFirst ? [needs.slow, ...others] : [...others, needs.slow], limits);
  };
  return {
    startUs: 1_700_000_000_000_000,
    limits,
    steps: steps.map((step): Step => {
      if (step.kind === 'decide') return { ...step, cost: costFor(step.cost) };
      if (step.kind === 'batch')
        return { ...step, parts: step.parts.map((part) => sliced(part, limits.length)) };
      if (step.kind === 'owe') return sliced(step, limits.length);
      if (step.kind !== 'reserve') return step;
      return { ...step, runs: step.runs.map((run) => ({ ...run, cost: costFor(run.cost) })) };
    }),
  };
});
