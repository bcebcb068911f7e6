import fc from 'fast-check';
import { client } from './requests.ts';
import { type LimitSpec, record } from './specs.ts';
import type { History, Step } from './steps.ts';

/** What differs between histories of clients that wait. */
interface Waiting {
  limit: fc.Arbitrary<LimitSpec>;
  /** Microseconds between two calls. */
  us: fc.Arbitrary<number>;
  /** The most requests of a call, of one permit each. */
  most: number;
  held: fc.Arbitrary<number>;
  /** The weight of passing time, where a call has 6. */
  advances: number;
  /** The requests of a first call that may not wait. */
  first?: number;
  /** The weight of pauses. */
  pauses?: number;
}

/** Histories of clients that wait for one or two limits, and refund many of their permits. */
export function waitingClients({
  limit,
  us,
  most,
  held,
  advances,
  first = 0,
  pauses = 0,
}: Waiting): fc.Arbitrary<History> {
  const advance = record({ kind: fc.constant('advance' as const), us });
  const reserve = record({
    kind: fc.constant('reserve' as const),
    client,
    maxWait: fc.oneof(
      { weight: 8, arbitrary: fc.constant(Infinity) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 5000 }) },
    ),
    count: fc.integer({ min: 1, max: most }),
    horizon: fc.integer({ min: 0, max: 200 }),
    held,
    earlier: fc.boolean(),
  });
  const cancel = record({
    kind: fc.constant('cancel' as const),
    client,
    every: fc.integer({ min: 1, max: Math.min(most, 8) }),
    newestFirst: fc.boolean(),
    ahead: fc.constant(false),
  });
  const decide = record({ kind: fc.constant('decide' as const), client });
  const pause = record({
    kind: fc.constant('pause' as const),
    client,
    ms: fc.integer({ min: 0, max: 1000 }),
  });
  return record({
    limits: fc.array(limit, { minLength: 1, maxLength: 2 }),
    steps: fc.array(
      fc.oneof(
        { weight: advances, arbitrary: advance },
        { weight: 6, arbitrary: reserve },
        { weight: 3, arbitrary: cancel },
        { weight: 1, arbitrary: decide },
        { weight: pauses, arbitrary: pause },
      ),
      { minLength: 1, maxLength: 80, size: 'max' },
    ),
  }).map(({ limits, steps }) => {
    const cost = limits.map(() => 1);
    const begin: Step = {
      kind: 'reserve',
      ...{ client: 0, runs: [{ count: first, cost, maxWait: 0 }], horizon: 20, held: 0 },
    };
    const others = steps.map((step): Step => {
      if (step.kind === 'decide') return { ...step, cost };
      if (step.kind !== 'reserve') return step;
      const { count, maxWait, ...rest } = step;
      return { ...rest, runs: [{ count, cost, maxWait }] };
    });
    return {
      startUs: 1_700_000_000_000_000,
      limits,
      steps: first > 0 ? [begin, ...others] : others,
    };
  });
}
