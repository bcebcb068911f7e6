import fc from 'fast-check';
import { client, costOf, rawCost } from './requests.ts';
import { type LimitSpec, record } from './specs.ts';
import { release, steering as steers } from './steering.ts';
import type { History, Refunding, Step } from './steps.ts';

/** The kinds of steps in a history, besides requests and the passing of time. */
export interface Content {
  refunds?: boolean;
  stepsBack?: boolean;
  /** Permits used beyond the granted ones. */
  debts?: boolean;
  /** Refunds, releases and debts that are sent in one call. */
  batches?: boolean;
  /** Pauses, releases, resets and stored rates. */
  steering?: boolean;
  maxLength?: number;
}

const wait = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.constant(Infinity) },
  // The longest time between two calls of a client that takes its part of the free permits.
  { weight: 1, arbitrary: fc.constantFrom(2, 1000) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 200 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3000 }).map((us) => us / 1000) },
);

const run = record({ count: fc.integer({ min: 1, max: 6 }), cost: rawCost, maxWait: wait });

const advance = record({
  kind: fc.constant('advance' as const),
  us: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 3000 }) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 70 }).map((ms) => ms * 1000) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 500_000 }) },
    // Long enough for a ledger to expire, unless it has reservations that far ahead.
    { weight: 1, arbitrary: fc.integer({ min: 100, max: 5000 }).map((ms) => ms * 1000) },
  ),
});

const reserve = record({
  kind: fc.constant('reserve' as const),
  client,
  runs: fc.array(run, { minLength: 1, maxLength: 3 }),
  horizon: fc.integer({ min: 0, max: 300 }),
  held: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200 })),
  earlier: fc.boolean(),
});

const decide = record({ kind: fc.constant('decide' as const), client, cost: rawCost, inLine: fc.boolean() });
export const peek = record({ kind: fc.constant('peek' as const), client });

const part = fc.oneof({ weight: 3, arbitrary: fc.constant(100) }, fc.integer({ min: 0, max: 100 }));
export const refund = record({
  kind: fc.constant('refund' as const),
  client,
  picks: fc.array(
    record({
      place: fc.integer({ min: 0, max: 99 }),
      count: fc.integer({ min: 1, max: 6 }),
      parts: fc.oneof(
        { weight: 3, arbitrary: fc.constant([100, 100, 100]) },
        fc.array(part, { minLength: 3, maxLength: 3 }),
      ),
    }),
    { minLength: 1, maxLength: 4 },
  ),
});
export const cancel = record({
  kind: fc.constant('cancel' as const),
  client,
  every: fc.integer({ min: 1, max: 4 }),
  newestFirst: fc.boolean(),
  ahead: fc.boolean(),
});
export const resend = record({ kind: fc.constant('resend' as const), client });
export const owe = record({
  kind: fc.constant('owe' as const),
  client,
  permits: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 4 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 200 }) },
    ),
    { minLength: 3, maxLength: 3 },
  ),
});
/** Parts of one call. The client of a part is that of the call. */
export const batch = record({
  kind: fc.constant('batch' as const),
  client,
  parts: fc.array<Refunding>(fc.oneof(refund, cancel, owe, release), { minLength: 2, maxLength: 5 }),
}).map(({ parts, ...step }) => ({
  ...step,
  parts: parts.map((part) => ({ ...part, client: step.client })),
}));
export const stepBack = record({
  kind: fc.constant('stepBack' as const),
  ms: fc.integer({ min: 1, max: 80 }),
});

/** Near zero, where a test's clock starts; any time; and today. */
const startUs = fc.oneof(
  fc.constantFrom(0, 1_000_000, 1_700_000_000_000_000),
  fc.integer({ min: 0, max: 10_000_000 }),
);

export function histories(
  limits: fc.Arbitrary<readonly LimitSpec[]>,
  {
    refunds = true,
    stepsBack = true,
    debts = false,
    batches = false,
    steering = false,
    maxLength = 60,
  }: Content = {},
): fc.Arbitrary<History> {
  const step = fc.oneof(
    { weight: 8, arbitrary: advance },
    { weight: 8, arbitrary: reserve },
    { weight: 2, arbitrary: decide },
    { weight: 1, arbitrary: peek },
    { weight: refunds ? 4 : 0, arbitrary: refund },
    { weight: refunds ? 2 : 0, arbitrary: cancel },
    { weight: refunds ? 1 : 0, arbitrary: resend },
    { weight: debts ? 1 : 0, arbitrary: owe },
    { weight: batches ? 2 : 0, arbitrary: batch },
    { weight: stepsBack ? 1 : 0, arbitrary: stepBack },
    { weight: steering ? 3 : 0, arbitrary: steers },
  );
  const steps = fc.array(step, { minLength: 1, maxLength, size: 'max' });
  return record({ startUs, limits, steps }).map((history) => ({ ...history, steps: fitting(history) }));
}

/** The steps, with their costs and rates fitted to the limits in force at each step. */
function fitting({ limits: own, steps }: History): Step[] {
  let stored: readonly LimitSpec[] | undefined;
  return steps.map((step) => {
    const limits = stored ?? own;
    if (step.kind === 'decide') return { ...step, cost: costOf(step.cost, limits) };
    if (step.kind === 'reserve')
      return { ...step, runs: step.runs.map((one) => ({ ...one, cost: costOf(one.cost, limits) })) };
    if (step.kind === 'release' || step.kind === 'owe') return sliced(step, own.length);
    if (step.kind === 'batch') return { ...step, parts: step.parts.map((part) => sliced(part, own.length)) };
    if (step.kind === 'forget' && step.rate) stored = undefined;
    if (step.kind !== 'setRate') return step;
    const rate = step.limits.slice(0, own.length);
    if (!step.ifAbsent || !stored) stored = rate;
    return { ...step, limits: rate };
  });
}

/** The step with permits for so many limits. */
export function sliced<S extends Refunding>(step: S, limits: number): S {
  return 'permits' in step ? { ...step, permits: step.permits.slice(0, limits) } : step;
}

export function historiesOf(limit: fc.Arbitrary<LimitSpec>, content?: Content): fc.Arbitrary<History> {
  return histories(
    limit.map((one) => [one]),
    content,
  );
}
