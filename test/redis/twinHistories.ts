import fc from 'fast-check';
import { histories, sliced } from '../properties/history.ts';
import { costOf } from '../properties/requests.ts';
import { scaled } from '../properties/scaled.ts';
import { fewLimits, type LimitSpec, record } from '../properties/specs.ts';
import type { History, Step } from '../properties/steps.ts';
import { meeting } from './meetings.ts';
import { clientsOfVersion, type Version } from './twins.ts';

const manyPermits: fc.Arbitrary<LimitSpec> = record({
  kind: fc.constant('slidingWindow' as const),
  permits: fc.integer({ min: 50, max: 200 }),
  interval: fc.integer({ min: 200, max: 5000 }),
  resolution: fc.integer({ min: 1, max: 3 }),
});

/** Histories whose logs are longer than the part that a script reads at a time. */
export const longLogs = histories(
  manyPermits.map((limit) => [limit]),
  { maxLength: 250, debts: true, batches: true },
).map((history) => ({ ...history, steps: history.steps.map(shorter) }));

function shorter(step: Step): Step {
  return step.kind === 'advance' ? { ...step, us: Math.ceil(step.us / 30) } : step;
}

/**
 * A log of thousands of entries: one call adds more than fit into one command, more empty ones are at its end than one refund
 * removes, and more have expired than one call removes.
 */
export function thousandsOfEntries(): History {
  const limits: LimitSpec[] = [
    // A thousandth of the interval is no whole number of milliseconds.
    { kind: 'slidingWindow', permits: 5000, interval: 4100, resolution: 1 },
    // One grant a millisecond, so that each has its own entry.
    { kind: 'tokenBucket', permits: 1, interval: 1, burst: 1 },
  ];
  // A call that reserves more than a second ahead reserves 512 moments.
  const runs = [{ count: 512, cost: [1, 1], maxWait: Infinity }];
  const reserve = Array<Step>(6).fill({ kind: 'reserve', client: 0, runs, horizon: 1e9, held: 0 });
  const cancel: Step = { kind: 'cancel', client: 0, every: 1, newestFirst: false, ahead: true };
  const wait = (ms: number): Step => ({ kind: 'advance', us: ms * 1000 });
  const peek: Step = { kind: 'peek', client: 1 };
  const steps = [
    ...reserve,
    wait(2500),
    cancel,
    peek,
    ...reserve,
    wait(3900),
    peek,
    peek,
    peek,
    peek,
    wait(1),
    cancel,
    peek,
  ];
  return { startUs: 0, limits, steps: [...steps, wait(10_000), peek] };
}

/** Costs that are generated independently of the limits. */
const raw: LimitSpec[] = Array.from({ length: 3 }, () => ({
  kind: 'fixedWindow',
  permits: 12,
  interval: 1,
  align: 'first',
}));

const version: fc.Arbitrary<Version> = fc
  .record({
    limits: fewLimits,
    names: fc.shuffledSubarray(['', 'a', 'b', 'c'], { minLength: 3, maxLength: 3 }),
  })
  .map(({ limits, names }) => ({ limits, names: names.slice(0, limits.length) }));

/** Versions of a program with the same names of limits. */
const sameNames: fc.Arbitrary<Version[]> = fc
  .array(version, { minLength: 1, maxLength: 3 })
  .map((versions) => {
    const { names } = versions.reduce((a, b) => (a.names.length < b.names.length ? a : b));
    return versions.map(({ limits }) => ({ names, limits: limits.slice(0, names.length) }));
  });

/** Histories in which clients of several versions store rates, pause and reset. */
export const steered: fc.Arbitrary<{ history: History; versions: Version[] }> = fc
  .record({
    versions: sameNames,
    history: meeting(
      scaled(histories(fc.constant(raw), { steering: true, debts: true, batches: true, maxLength: 80 })),
    ),
    turn: fc.integer({ min: 1, max: 5 }),
  })
  .map(({ history, versions, turn }) => ({
    history: {
      ...history,
      limits: versions[0].limits,
      steps: history.steps.map((step, i) =>
        asVersion(step, Math.floor(i / turn) % versions.length, versions),
      ),
    },
    versions,
  }));

function asBucket({ permits, interval }: LimitSpec): LimitSpec {
  return { kind: 'tokenBucket', permits, interval, burst: permits };
}

/** The same with successive buckets: the third one takes over the debt of the first. */
export const steeredBuckets = steered.map(({ history, versions }) => ({
  history: {
    ...history,
    steps: history.steps.map((step) =>
      step.kind === 'setRate' ? { ...step, keepState: true, limits: step.limits.map(asBucket) } : step,
    ),
  },
  versions: versions.map(({ names, limits }) => ({ names, limits: limits.map(asBucket) })),
}));

/** Histories in which a new version of a program replaces the old one, while some processes still run the old one. */
export const changing: fc.Arbitrary<{ history: History; versions: Version[] }> = fc
  .record({
    history: meeting(scaled(histories(fc.constant(raw), { debts: true, batches: true, maxLength: 80 }))),
    versions: fc.array(version, { minLength: 2, maxLength: 3 }),
    stage: fc.integer({ min: 5, max: 40 }),
    straggler: fc.integer({ min: 3, max: 30 }),
  })
  .map(({ history, versions, stage, straggler }) => ({
    history: {
      ...history,
      steps: history.steps.map((step, i) => {
        const turn = Math.floor(i / stage) + (i % straggler === 0 ? 1 : 0);
        return asVersion(step, turn % versions.length, versions);
      }),
    },
    versions,
  }));

function asVersion(step: Step, index: number, versions: Version[]): Step {
  if (step.kind === 'advance' || step.kind === 'stepBack') return step;
  const { limits } = versions[index];
  const fitting = (cost: readonly number[]) => costOf(cost.slice(0, limits.length), limits);
  const moved = { ...step, client: step.client + index * clientsOfVersion };
  if (moved.kind === 'decide') return { ...moved, cost: fitting(moved.cost) };
  if (moved.kind === 'release' || moved.kind === 'owe') return sliced(moved, limits.length);
  if (moved.kind === 'batch') {
    const { client } = moved;
    return { ...moved, parts: moved.parts.map((part) => sliced({ ...part, client }, limits.length)) };
  }
  if (moved.kind === 'setRate') return { ...moved, limits: moved.limits.slice(0, limits.length) };
  if (moved.kind !== 'reserve') return moved;
  return { ...moved, runs: moved.runs.map((run) => ({ ...run, cost: fitting(run.cost) })) };
}

const powers = (most: number) =>
  fc.double({ min: 0, max: most, noNaN: true }).map((bits) => Math.floor(2 ** bits));

/** Limits of many permits, or of years. */
const vastLimits: fc.Arbitrary<LimitSpec> = record({
  kind: fc.constantFrom('slidingWindow', 'fixedWindow', 'tokenBucket'),
  permits: powers(48),
  interval: powers(40),
  extra: powers(30),
}).map(({ kind, permits, interval: wanted, extra }): LimitSpec => {
  const interval = Math.min(wanted, 1e12, Math.floor((2 ** 53 - 1) / permits));
  if (kind === 'slidingWindow') return { kind, permits, interval, resolution: Math.min(extra, interval) };
  if (kind === 'fixedWindow') return { kind, permits, interval, align: extra % 2 ? 'first' : 'epoch' };
  // A bucket fills within 2^40 ms: thousands of times as much, the most that may be owed, is still exact.
  const most = Math.max(1, Math.floor((2 ** 40 * permits) / interval));
  return { kind, permits, interval, burst: Math.min(extra, most, Math.floor((2 ** 53 - 1) / interval)) };
});

/** Histories of limits whose numbers are too large for one format or another. */
export const vast: fc.Arbitrary<History> = fc
  .record({
    history: histories(
      vastLimits.map((limit) => [limit]),
      { debts: true, batches: true },
    ),
    factor: powers(34),
  })
  .map(({ history, factor }) => ({
    ...history,
    // No window is longer than the time since 1970.
    startUs: 1_700_000_000_000_000,
    steps: history.steps.map((step): Step => {
      const most = history.limits.map((limit) =>
        limit.kind === 'tokenBucket' ? limit.burst : limit.permits,
      );
      const large = (permits: readonly number[]) => permits.map((n, i) => Math.min(most[i], n * factor));
      if (step.kind === 'advance' && step.us % 3 === 0)
        return { ...step, us: Math.floor((step.us * history.limits[0].interval) / 100_000) };
      if (step.kind === 'decide') return { ...step, cost: large(step.cost) };
      if (step.kind === 'release') return { ...step, permits: large(step.permits) };
      // A debt is longer than a reply can tell.
      if (step.kind === 'owe')
        return { ...step, permits: step.permits.map((n) => Math.min(2 ** 52, n * factor)) };
      if (step.kind !== 'reserve') return step;
      return { ...step, runs: step.runs.map((run) => ({ ...run, cost: large(run.cost) })) };
    }),
  }));

const ample = (limits: fc.Arbitrary<LimitSpec>) =>
  limits.map((limit): LimitSpec => {
    const permits = limit.permits * 8;
    const { interval } = limit;
    if (limit.kind === 'tokenBucket') return { ...limit, permits, burst: limit.burst * 8 };
    return limit.kind === 'slidingWindow'
      ? { ...limit, permits, resolution: Math.min(limit.resolution, interval) }
      : { ...limit, permits };
  });

/** Histories of a limiter that seldom reaches its limit: callers have no reservations, and few of them wait. */
export const calm = (limit: fc.Arbitrary<LimitSpec>): fc.Arbitrary<History> =>
  fc
    .record({
      history: scaled(
        histories(
          ample(limit).map((spec) => [spec]),
          { maxLength: 60 },
        ),
      ),
      waits: fc.integer({ min: 5, max: 40 }),
      longest: fc.integer({ min: 1, max: 40 }),
    })
    .map(({ history, waits, longest }) => ({
      ...history,
      steps: history.steps
        .filter(({ kind }, i) => kind !== 'stepBack' || i % 7 === 0)
        .map((step, i): Step => {
          if (step.kind === 'advance') return { ...step, us: Math.ceil(step.us / longest) };
          if (step.kind !== 'reserve' || i % waits === 0) return step;
          return { ...step, runs: step.runs.slice(0, 1), held: 0 };
        }),
    }));
