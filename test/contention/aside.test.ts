// Records of which some clients wait for a slow limit, in virtual time: their reservations hold up no others.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { capacityOf, fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { jain } from '../fleet/measures.ts';
import { overLimit } from '../properties/oracle.ts';
import { runsOf } from '../support/campaign.ts';
import { cases } from '../support/cases.ts';
import { randomFrom, seed } from '../support/seed.mjs';
import { choicesBy } from './choices.ts';
import { contend, type Habits, waits } from './contend.ts';

const fast = { permits: 20, interval: 1000 };
const slow = { permits: 20, interval: 20_000 };
const windows: [title: string, limit: Limit][] = [
  ['a sliding window', slidingWindow(fast)],
  ['a fixed window', fixedWindow(fast)],
  ['a window on the clock', fixedWindow({ ...fast, align: 'epoch' })],
];

const all = windows.flatMap((window) =>
  [slidingWindow, fixedWindow, tokenBucket].flatMap((of) =>
    [1, 5].map((number) => [window, of, number] as const),
  ),
);
// Behind reservations that wait for the slow limit, they would be granted next to nothing.
for (const [[title, first], of, number] of all)
  test(`${number} of ${title} use it beside as many that wait for a slow ${of.name}`, () => {
    const limits = [first, of(slow)];
    const both: Habits = { ...waits, waiting: 4, costs: [[1, number === 1 ? 20 : 10]] };
    const one: Habits = { ...waits, waiting: 4, costs: [[1, 0]] };
    const clients = Array.from({ length: 2 * number }, (_, i) => (i % 2 === 0 ? both : one));
    const during = { roundTrip: 2, jitter: 0.3, warmUp: 5000, span: 60_000, seed: 1 };
    const { kept, calls, granted } = contend({ limits, clients, ...during });
    const ofOne = kept.filter((_, i) => i % 2 === 1).map(([permits]) => permits);
    const used = ofOne.reduce((sum, n) => sum + n, 0) / (60 * fast.permits);
    assert.ok(used >= 0.85, `${used} of the fast limit`);
    assert.ok(jain(ofOne) >= 0.98, `Jain's index is ${jain(ofOne)}`);
    const ofSlow = kept.reduce((sum, [, permits]) => sum + permits, 0);
    assert.ok(ofSlow >= 2 * slow.permits, `${ofSlow} permits of the slow limit`);
    assert.ok(calls <= 1.6 * granted, `${calls} calls for ${granted} grants`);
  });

const slows = [
  { permits: 1, interval: 10_000 },
  { permits: 60, interval: 60_000 },
];
// Reservations a second ahead, too: the others' requests would wait for as long.
for (const [[title, first], of, { permits, interval }] of cases(
  [...windows, ['a token bucket', tokenBucket({ ...fast, burst: 100 })] as const].map(
    ([title, limit]) => [title, { ...limit, permits: 100 }] as const,
  ),
  [slidingWindow, fixedWindow, tokenBucket],
  slows,
))
  test(`two clients use ${title} of 100 beside one that waits for a ${of.name} of ${permits} in ${interval} ms`, () => {
    const limits = [first, of({ permits, interval })];
    const one = { ...waits, waiting: 20, costs: [[1, 0]] };
    const clients = [{ ...waits, waiting: 3, costs: [[1, 1]] }, one, one];
    const span = 2 * interval;
    const { kept, calls, granted } = contend({
      ...{ limits, clients, roundTrip: 2, warmUp: interval, span, fade: 1000, seed: 1 },
    });
    const used = kept.reduce((sum, [n]) => sum + n, 0) / (span / 10);
    assert.ok(used >= 0.98, `${used} of the fast limit`);
    assert.ok(kept[0][1] >= 0.9 * 2 * permits, `${kept[0][1]} permits of the slow limit`);
    assert.ok(jain(kept.slice(1).map(([n]) => n)) >= 0.98, `${kept}`);
    assert.ok(calls <= 1.1 * granted, `${calls} calls for ${granted} grants`);
  });

const rates = [
  { permits: 100, interval: 1000, burst: 20 },
  { permits: 700, interval: 1000, burst: 91 },
  { permits: 5, interval: 7, burst: 100 },
];
// A reservation for the next millisecond counts as taken before its refill.
for (const [rate, number] of rates.flatMap((rate) => [1, 2].map((count) => [rate, count] as const)))
  test(`a client uses ${rate.permits} per ${rate.interval} ms of a token bucket beside ${number} that wait for a slow limit`, () => {
    const limits = [tokenBucket(rate), slidingWindow({ permits: 4, interval: 28_931, resolution: 1 })];
    const both: Habits[] = Array(number).fill({ ...waits, waiting: 5, costs: [[1, 1]] });
    const clients = [...both, { ...waits, waiting: 5, costs: [[1, 0]] }];
    const { kept } = contend({
      limits,
      clients,
      roundTrip: 2,
      jitter: 0.3,
      warmUp: 0,
      span: 20_000,
      seed: 1,
    });
    const used = kept.reduce((sum, [n]) => sum + n, 0) / ((20_000 * rate.permits) / rate.interval);
    assert.ok(used >= 0.98, `${used} of the bucket`);
  });

/** Two or three limits, of which one is slow, and clients that need any of them. */
function mixedFleet(which: number): { limits: Limit[]; clients: Habits[] } {
  const random = randomFrom(which);
  const { pick, between } = choicesBy(random);
  const limitOf = (interval: number): Limit => {
    const spec = { permits: between(3, 40), interval };
    return pick([
      () => slidingWindow({ ...spec, resolution: pick([1, Math.ceil(interval / 20)]) }),
      () => fixedWindow(spec),
      () => fixedWindow({ ...spec, align: 'epoch' }),
      () => tokenBucket(spec),
    ])();
  };
  const limits = [between(200, 3000), between(5000, 60_000), between(200, 20_000)].map(limitOf);
  if (random() < 0.5) limits.pop();
  const costOf = () => {
    const cost = limits.map((limit) => pick([0, 1, 1, Math.ceil(capacityOf(limit) * random())]));
    return cost.some((n) => n > 0) ? cost : limits.map(() => 1);
  };
  const clients = Array.from({ length: between(2, 6) }, () => ({
    ...waits,
    ...{ waiting: between(1, 8), costs: [costOf(), costOf()] },
    ...{ cancel: pick([0, 0, 0.5]), cancelWithin: between(10, 5000) },
  }));
  return { limits, clients };
}

test('no limit of a record is exceeded, whichever of its limits clients need', () => {
  for (let i = 0; i < runsOf(100); i++) {
    const which = seed() + i;
    const { limits, clients } = mixedFleet(which);
    const { standing } = contend({
      limits,
      clients,
      roundTrip: 2,
      jitter: 0.3,
      warmUp: 0,
      span: 40_000,
      seed: 1,
    });
    limits.forEach((limit, at) => {
      const grants = standing
        .filter(({ cost }) => cost[at] > 0)
        .map(({ moment, cost }) => ({ t: moment, n: cost[at] }));
      const over = overLimit(limit, grants);
      assert.equal(over, undefined, `${over}, SLUICE_SEED=${which} SLUICE_RUNS=1: ${JSON.stringify(limit)}`);
    });
  }
});

// Of windows, more stays unused than without the first client: what comes back is not granted behind the next reservations.
for (const [title, first, least] of [
  ['a token bucket', tokenBucket(fast), 0.95],
  ['a sliding window', slidingWindow(fast), 0.72],
  ['a fixed window', fixedWindow(fast), 0.66],
  ['a window on the clock', fixedWindow({ ...fast, align: 'epoch' }), 0.7],
] as const)
  test(`two clients that refund much of ${title} use it beside one that waits for a rare limit`, () => {
    const limits = [first, slidingWindow({ permits: 60, interval: 60_000, resolution: 1 })];
    const one = { ...waits, waiting: 20, costs: [[1, 0]], refund: 0.6 };
    const clients = [{ ...waits, waiting: 3, costs: [[1, 1]] }, one, one];
    const { kept, calls, granted } = contend({
      ...{ limits, clients, roundTrip: 2, warmUp: 10_000, span: 60_000, fade: 1000, seed: 1 },
    });
    const used = kept.reduce((sum, [n]) => sum + n, 0) / (60 * fast.permits);
    assert.ok(used >= least, `${used} of the fast limit`);
    assert.ok(kept[0][1] >= 0.8 * 60, `${kept[0][1]} permits of the slow limit`);
    assert.ok(jain(kept.slice(1).map(([n]) => n)) >= 0.95, `${kept}`);
    assert.ok(calls <= 1.2 * granted, `${calls} calls for ${granted} grants`);
  });

test.run();
