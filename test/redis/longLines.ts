import fc from 'fast-check';
import { batch, cancel, owe, peek, refund, resend, sliced, stepBack } from '../properties/history.ts';
import { client } from '../properties/requests.ts';
import { type LimitSpec, record } from '../properties/specs.ts';
import { steering } from '../properties/steering.ts';
import type { History, Step } from '../properties/steps.ts';

/** The milliseconds that a permit takes at the full rate, those at which something changes among them. */
const load = fc.oneof(fc.constantFrom(10, 50, 100, 200, 500, 1000), fc.integer({ min: 1, max: 700 }));

const limit: fc.Arbitrary<LimitSpec> = record({
  kind: fc.constantFrom('slidingWindow', 'fixedWindow', 'tokenBucket'),
  permits: fc.integer({ min: 1, max: 6 }),
  load,
  extra: fc.integer({ min: 1, max: 6 }),
  isExact: fc.boolean(),
}).map(({ kind, permits, load, extra, isExact }): LimitSpec => {
  const rate = { permits, interval: permits * load };
  if (kind === 'tokenBucket') return { kind, ...rate, burst: extra };
  if (kind === 'fixedWindow') return { kind, ...rate, align: isExact ? 'first' : 'epoch' };
  return { kind, ...rate, resolution: isExact ? 1 : Math.ceil((rate.interval * extra) / 20) };
});

const advance = record({
  kind: fc.constant('advance' as const),
  us: fc.oneof(
    fc.integer({ min: 0, max: 20_000 }),
    fc.integer({ min: 0, max: 1500 }).map((ms) => ms * 1000),
  ),
});

const reserve = record({
  kind: fc.constant('reserve' as const),
  client,
  run: record({
    count: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 40 })),
    permits: fc.constantFrom(1, 1, 1, 2),
    maxWait: fc.constantFrom(0, 2, 1000, 5000, ...Array<number>(12).fill(Infinity)),
  }),
  horizon: fc.constantFrom(20, 200, 2000, 10_000, 60_000),
  held: fc.constantFrom(0, 0, 100, 3000),
  earlier: fc.constantFrom(false, false, true),
});
const decide = record({ kind: fc.constant('decide' as const), client, inLine: fc.boolean() });

/** Histories of clients with many reservations far ahead, some of which they refund, while rates and pauses change. */
export const longLines: fc.Arbitrary<History> = record({
  limits: fc.oneof(
    { weight: 3, arbitrary: fc.array(limit, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.array(limit, { minLength: 2, maxLength: 2 }) },
  ),
  steps: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: advance },
      { weight: 6, arbitrary: reserve },
      { weight: 3, arbitrary: cancel },
      { weight: 2, arbitrary: refund },
      { weight: 1, arbitrary: batch },
      { weight: 1, arbitrary: fc.oneof(decide, peek, owe, resend, stepBack) },
      { weight: 1, arbitrary: steering },
    ),
    { minLength: 10, maxLength: 60, size: 'max' },
  ),
}).map(({ limits, steps }) => {
  const costOf = (n: number) => limits.map(({ permits }) => Math.min(n, permits));
  return {
    startUs: 1_700_000_000_000_000,
    limits,
    steps: steps.map((step): Step => {
      if (step.kind === 'decide') return { ...step, cost: costOf(1) };
      if (step.kind === 'batch')
        return { ...step, parts: step.parts.map((part) => sliced(part, limits.length)) };
      if (step.kind === 'setRate') return { ...step, limits: step.limits.slice(0, limits.length) };
      if (step.kind === 'release' || step.kind === 'owe') return sliced(step, limits.length);
      if (step.kind !== 'reserve') return step;
      const { run, ...rest } = step;
      return { ...rest, runs: [{ ...run, cost: costOf(run.permits) }].map(({ permits: _, ...own }) => own) };
    }),
  };
});
