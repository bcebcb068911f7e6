import fc from 'fast-check';
import { clients } from './snapshot.ts';

/** Milliseconds; the test owns the time, so no time passes otherwise. */
export const interval = 100;

const mostRate = 45;
const client = fc.constantFrom(...clients);
/** None, slightly above the interval, and well above it. */
const keepAlive = fc.constantFrom(0, 0, interval + 1, 3 * interval, 5 * interval);
const rate = fc.oneof(fc.integer({ min: 1, max: mostRate }), fc.constantFrom(10, mostRate));
/** A number of permits: absolute, or relative to the free permits or to the rate at that time. */
const amount = fc.oneof(
  fc.record({ of: fc.constant('nothing' as const), and: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ of: fc.constant('nothing' as const), and: fc.integer({ min: 1, max: mostRate }) }),
  fc.record({ of: fc.constant('free' as const), and: fc.constantFrom(0, 1) }),
  fc.record({ of: fc.constant('rate' as const), and: fc.constantFrom(0, 0, 0, 1, -1, -14) }),
);
export type Amount = typeof amount extends fc.Arbitrary<infer T> ? T : never;

function step<What extends string, Rest extends object>(
  what: What,
  rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
): fc.Arbitrary<{ what: What } & Rest> {
  return fc.record(rest).map((values) => ({ what, ...(values as Rest) }));
}

const rates = {
  rate,
  perClient: fc.boolean(),
  keepAlive,
};

const microseconds = fc.oneof(
  fc.integer({ min: 1, max: 900 }),
  // Whole milliseconds, so that moments coincide with the ends of windows.
  fc.integer({ min: 1, max: 30 }).map((ms) => ms * 1000),
  fc.integer({ min: 1000, max: 30_000 }),
  fc.integer({ min: 500 * interval, max: 1500 * interval }),
  fc.constant(1000 * interval),
);

const run = fc.record({
  permits: amount,
  count: fc.integer({ min: 1, max: 4 }),
  maxWait: fc.constantFrom(0, 0, 0, -1, 3000),
});

const tick = step('tick', { us: microseconds });
const single = step('single', { client, permits: amount });
const several = step('several', { client, runs: fc.array(run, { minLength: 1, maxLength: 4, size: 'max' }) });
const release = step('release', { client, permits: amount });
const refund = step('refund', { client, back: fc.nat({ max: 3 }), permits: fc.integer({ min: 1, max: 8 }) });
const look = step('look', { client });
const setRate = step('set rate', {
  client,
  when: fc.constantFrom('known', 'known', 'any', 'new'),
  ...rates,
  otherType: fc.constantFrom(false, false, true),
  keepState: fc.constantFrom(true, true, false),
});
const expire = step('expire', { client, ms: fc.oneof(fc.constant(-1), fc.integer({ min: 1, max: 300 })) });
const remove = step('delete', { client });
const byHand = fc.oneof(
  step('by hand: persist', {}),
  step('by hand: expire', { ms: fc.integer({ min: 1, max: 400 }) }),
  step('by hand: lose value', { client }),
  step('by hand: rate', { rate }),
);
const jvm = step('jvm', {
  client,
  permits: fc.integer({ min: 1, max: 5 }),
  clockOffset: fc.constantFrom(0, 0, 0, -60, -7, 5, 40),
  /** Its members sort before ours or after them. */
  byte: fc.integer({ min: 0, max: 255 }),
});

const steps = [
  { weight: 24, arbitrary: single },
  { weight: 12, arbitrary: tick },
  { weight: 8, arbitrary: several },
  { weight: 4, arbitrary: setRate },
  { weight: 2, arbitrary: release },
  { weight: 2, arbitrary: refund },
  { weight: 2, arbitrary: look },
  { weight: 2, arbitrary: expire },
  { weight: 1, arbitrary: remove },
] as const;

/** Lives of a limiter: its initial state, then its steps. */
function livesOf<T>(arbitrary: fc.Arbitrary<T>) {
  return fc.record({
    start: fc.nat({ max: 999_999 }),
    first: fc.record(rates),
    steps: fc.array(arbitrary, { maxLength: 45, size: 'max' }),
  });
}

export const ofOurs = livesOf(fc.oneof(...steps));
export const withHands = livesOf(fc.oneof(...steps, { weight: 5, arbitrary: byHand }));
export const withJvm = livesOf(fc.oneof(...steps, { weight: 10, arbitrary: jvm }));

type All = typeof ofOurs | typeof withHands | typeof withJvm;
export type Life = All extends fc.Arbitrary<infer T> ? T : never;
export type Step = Life['steps'][number];
export type StepOf<What extends Step['what']> = Extract<Step, { what: What }>;
