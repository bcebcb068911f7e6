import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { jain } from '../fleet/measures.ts';
import { runsOf } from '../support/campaign.ts';
import { cases } from '../support/cases.ts';
import { seed } from '../support/seed.mjs';
import { againstIdeal, manyWindows } from './againstIdeal.ts';
import { type Contention, contend, type Outcome, waits } from './contend.ts';
import { ideal } from './ideal.ts';
import { usedBy, usedFleet } from './usedFleet.ts';
import { besideWasteful, wasteful } from './wasteful.ts';

const kinds: Record<string, (permits: number) => Limit> = {
  'a sliding window': (permits) => slidingWindow({ permits, interval: 1000 }),
  'a fixed window': (permits) => fixedWindow({ permits, interval: 1000 }),
  'a fixed window on the clock': (permits) => fixedWindow({ permits, interval: 1000, align: 'epoch' }),
  'a token bucket': (permits) => tokenBucket({ permits, interval: 1000 }),
};
const all = { ...kinds, 'a leaky bucket': (permits: number) => leakyBucket({ permits, interval: 1000 }) };

const measured = { roundTrip: 2, warmUp: 3000, span: 8_000, seed: 1 };
const seconds = measured.span / 1000;

/** Seeds of histories that are measured together: in a single one, clients may call in step, and bounds would hold by luck. */
const seeds = [1, 2, 3];

/** Histories measured one after the other, and what one queue would keep in them, `most` in each. */
function inTurns(
  contention: Omit<Contention, 'seed'>,
  most: number,
): Pick<Outcome, 'kept' | 'calls' | 'granted'> & { best: number } {
  const total = { kept: contention.clients.map(() => [0]), calls: 0, granted: 0, best: 0 };
  for (const seed of seeds) {
    const { kept, calls, granted } = contend({ ...contention, seed });
    kept.forEach(([permits], client) => {
      total.kept[client][0] += permits;
    });
    total.calls += calls;
    total.granted += granted;
    total.best += Math.min(most, ideal({ ...contention, seed }).kept[0]);
  }
  return total;
}

/** Kept permits of the first limit, by client. */
function keptBy({ kept }: Pick<Outcome, 'kept'>): number[] {
  return kept.map(([permits]) => permits);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

for (const [[kind, limitOf]] of cases(Object.entries(all)))
  test(`a client that keeps reserving and cancelling leaves the other its fair share of ${kind}`, () => {
    const clients = [waits, { ...waits, cancel: 1, cancelWithin: 10 }];
    const outcome = contend({ limits: [limitOf(10)], clients, ...measured });
    const [own] = keptBy(outcome);
    // A whole interval may begin or end within the measurement.
    assert.ok(own >= 5 * (seconds - 0.5), `${own} permits in ${seconds} s of 10 a second`);
    assert.ok(outcome.longest < 2000, `a request waited for ${outcome.longest} ms`);
  });

for (const limit of [slidingWindow, fixedWindow])
  test(`a client that keeps cancelling leaves the others their shares of a minute, far ahead: ${limit.name}`, () => {
    const limits = [limit({ permits: 60, interval: 60_000 })];
    const others = Array.from({ length: 6 }, () => ({ ...waits, waiting: 10 }));
    const clients = [{ ...waits, cancel: 1, cancelWithin: 500 }, ...others];
    const kept = clients.map(() => 0);
    for (let seed = 1; seed <= 4; seed++)
      keptBy(contend({ limits, clients, roundTrip: 2, warmUp: 0, span: 120_000, seed })).forEach((n, i) => {
        kept[i] += n;
      });
    assert.ok(sum(kept) >= 0.95 * 4 * 120, `${kept} permits`);
    // A seventh is 69.
    assert.ok(Math.min(...kept.slice(1)) >= 50, `${kept} permits`);
  });

for (const [[kind, limitOf]] of cases(Object.entries(all)))
  test(`with half of the requests cancelled, ${kind} is fully used, in fair shares`, () => {
    const clients = Array.from({ length: 8 }, () => ({ ...waits, cancel: 0.5, cancelWithin: 150 }));
    const kept = keptBy(contend({ limits: [limitOf(50)], clients, ...measured }));
    assert.ok(sum(kept) >= 0.95 * 50 * seconds, `${sum(kept)} of ${50 * seconds} permits`);
    assert.ok(jain(kept) >= 0.95, `Jain's index is ${jain(kept)}`);
  });

for (const [part, [kind, limitOf]] of cases([0.5, 0.8], Object.entries(kinds)))
  test(`two clients fully use ${kind} when ${part * 100} % of the permits are refunded`, () => {
    const habits = { ...waits, waiting: 5, costs: [[10]], refund: 1, refundWithin: 1, part };
    const kept = keptBy(contend({ limits: [limitOf(1000)], clients: [habits, habits], ...measured }));
    assert.ok(sum(kept) >= 950 * seconds, `${sum(kept)} of ${1000 * seconds} permits`);
    assert.ok(jain(kept) >= 0.95, `Jain's index is ${jain(kept)}`);
  });

for (const [refund, waiting, kind] of cases([0.45, 0.9], [1, 4], ['a sliding window', 'a fixed window']))
  test(`sixteen clients with ${waiting} queued requests that refund ${refund * 100} % use ${kind} in full`, () => {
    const habits = { ...waits, waiting, refund, refundWithin: 2 };
    const clients = Array.from({ length: 16 }, () => habits);
    // Of fewer permits, chance alone keeps unequal parts.
    const outcome = contend({ limits: [kinds[kind](50)], clients, ...measured, span: 24_000 });
    const kept = keptBy(outcome);
    assert.ok(sum(kept) >= 0.95 * 1200, `${sum(kept)} of 1200 permits`);
    assert.ok(jain(kept) >= 0.95, `Jain's index is ${jain(kept)}`);
    const calls = outcome.calls / outcome.granted;
    assert.ok(calls <= 1.5, `${calls} calls for each permit`);
  });

const few = [
  [1, 4],
  [1, 12],
  [2, 2],
  [2, 6],
  [3, 2],
] as const;
for (const [[number, waiting], [kind, limitOf]] of cases(few, Object.entries(kinds)))
  test(`few queued requests that refund 90 % of ${kind} keep what one queue would keep: ${waiting} each of ${number}`, () => {
    const habits = { ...waits, waiting, refund: 0.9 };
    const clients = Array.from({ length: number }, () => habits);
    const contention = { limits: [limitOf(50)], clients, ...measured, span: 20_000 };
    const outcome = contend(contention);
    const kept = sum(keptBy(outcome));
    const best = Math.min(1000, ideal(contention).kept[0]);
    assert.ok(kept >= 0.96 * best, `${kept} permits, and ${best} of one queue`);
    const calls = outcome.calls / outcome.granted;
    assert.ok(calls <= 1, `${calls} calls for each permit`);
  });

const estimates = { ...waits, costs: [[10]], refund: 1, part: 0.8 };
for (const [number, waiting, refundWithin, [kind, limitOf]] of cases(
  [2, 8, 16],
  [1, 20],
  [1, 100],
  Object.entries(kinds),
))
  test(`${number} clients with ${waiting} requests that use a fifth of 10 permits, refunded within ${refundWithin} ms, share ${kind}`, () => {
    const limits = [{ ...limitOf(100), interval: 2_500 } as Limit];
    const clients = Array.from({ length: number }, () => ({ ...estimates, waiting, refundWithin }));
    const contention = { limits, clients, ...measured, jitter: 0.3, warmUp: 7_500, span: 30_000 };
    const { best, ...outcome } = inTurns(contention, 1200);
    const kept = keptBy(outcome);
    // A client calls again in its turn, not for a part that is too small. A sliding window has no moment at which all come back.
    const [least, most] = kind === 'a sliding window' ? [0.92, 2.6] : [0.97, 1.55];
    assert.ok(sum(kept) >= least * best, `${sum(kept)} permits, and ${best} of one queue`);
    assert.ok(jain(kept) >= 0.9, `Jain's index is ${jain(kept)}`);
    const calls = outcome.calls / outcome.granted;
    assert.ok(calls <= most, `${calls} calls for each permit`);
  });

test('permits that come back unused too late cause no further calls', () => {
  const habits = { ...waits, waiting: 4, refund: 0.9, refundWithin: 1 };
  // The bucket holds no second permit, so a moment that has passed is lost.
  const contention = { limits: [all['a leaky bucket'](50)], clients: [habits], ...measured };
  const { calls, granted } = contend(contention);
  assert.ok(calls <= 1.3 * granted, `${calls} calls for ${granted} permits`);
});

test('without refunds, a permit takes one call', () => {
  const clients = Array.from({ length: 16 }, () => waits);
  const { calls, granted } = contend({ limits: [kinds['a sliding window'](50)], clients, ...measured });
  assert.ok(calls <= 1.05 * granted, `${calls} calls for ${granted} permits`);
});

const full = [
  ['a sliding window', 0.9, 190],
  ['a sliding window', 0.45, 190],
  ['a fixed window', 0.45, 195],
  ['a fixed window', 0.9, 195],
] as const;
for (const [[kind, refund, least]] of cases(full))
  test(`with a full window of queued requests that refund ${refund * 100} %, most of ${kind} is used`, () => {
    const clients = Array.from({ length: 10 }, () => ({ ...waits, waiting: 2, refund }));
    const contention = { limits: [kinds[kind](10)], clients, ...measured, span: 20_000 };
    // Of few permits, chance decides much.
    const kept = [1, 2, 3].map((seed) => sum(keptBy(contend({ ...contention, seed }))));
    assert.ok(sum(kept) >= 3 * least, `${kept} of 200 permits`);
  });

/** Requests that cost more than a client's part of the horizon, and the part of each kind that is used beside small ones. */
const large: [cost: number, used: Record<string, number>][] = [
  [5, {}],
  [20, { 'a sliding window': 0.9 }],
  [50, { 'a sliding window': 0.84 }],
  // A window that is to be empty for a request leaves permits unused, unless the small requests before it come together.
  [100, { 'a sliding window': 0.7 }],
];

for (const [[cost, used], [kind, limitOf], others] of cases(large, Object.entries(kinds), [1, 3]))
  test(`clients with requests of ${cost} and of 1 permit have fair shares of ${kind}: 1 and ${others} of them`, () => {
    const small = Array.from({ length: others }, () => ({ ...waits, waiting: 100 }));
    const clients = [{ ...waits, costs: [[cost]] }, ...small];
    const { kept, calls, granted } = contend({
      limits: [limitOf(100)],
      clients,
      ...measured,
      span: 20_000,
    });
    const permits = kept.map(([n]) => n);
    assert.ok(jain(permits) >= 0.98, `${permits} permits`);
    assert.ok(sum(permits) >= (used[kind] ?? 0.95) * 2000, `${permits} of 2000 permits`);
    assert.ok(calls <= 1.1 * granted, `${calls} calls for ${granted} requests`);
  });

for (const [[kind, limitOf]] of cases(Object.entries(kinds)))
  test(`beside a large request, many clients together reserve at most four seconds ahead of ${kind}`, () => {
    const small = Array.from({ length: 30 }, () => ({ ...waits, waiting: 20 }));
    const clients = [{ ...waits, costs: [[50]] }, ...small];
    const outcome = contend({ limits: [limitOf(100)], clients, ...measured, span: 20_000 });
    const [first, ...others] = keptBy(outcome);
    // Each of the 30 may reserve 13 permits for each 50 of the first.
    assert.ok(Math.min(...others) >= 0.2 * first, `${first} permits, and ${others}`);
    // 600 requests are waiting at any time.
    assert.ok(outcome.longest < 12_500, `a request waited for ${outcome.longest} ms`);
  });

// A queue leaves a part of a window of 100 unused: it fits 50 and 50 together, but not 50, 5 and 50.
for (const [refund, kind] of cases([0.9, 0.5, 0], ['a sliding window', 'a fixed window', 'a token bucket']))
  test(`clients with mixed costs that refund ${refund * 100} % keep what one queue would keep of ${kind}, in fair shares`, () => {
    const habits = { ...waits, waiting: 20, costs: [[1], [5], [50]], refund, refundWithin: 50 };
    const contention = { limits: [kinds[kind](100)], clients: Array(4).fill(habits), ...measured };
    const kept = [0, 0, 0, 0];
    let best = 0;
    for (let seed = 1; seed <= 12; seed++) {
      keptBy(contend({ ...contention, seed })).forEach((permits, client) => {
        kept[client] += permits;
      });
      // The queue keeps what overflows a bucket.
      best += Math.min(ideal({ ...contention, seed }).kept[0], 100 * seconds);
    }
    assert.ok(sum(kept) >= 0.92 * best, `${kept} permits, and ${best} of one queue`);
    assert.ok(jain(kept) >= 0.95, `${kept} permits`);
  });

test('two limits together are fully used, whatever is cancelled and refunded', () => {
  const limits = [
    slidingWindow({ permits: 50, interval: 1000 }),
    fixedWindow({ permits: 1000, interval: 1000 }),
  ];
  const habits = { ...waits, waiting: 3, costs: [[1, 5]], cancel: 0.5, cancelWithin: 200, refund: 0.3 };
  const kept = keptBy(contend({ limits, clients: [habits, habits, habits, habits], ...measured }));
  assert.ok(sum(kept) >= 0.95 * 50 * seconds, `${sum(kept)} of ${50 * seconds} permits`);
  assert.ok(jain(kept) >= 0.95, `Jain's index is ${jain(kept)}`);
});

for (const [kind, number] of cases(Object.keys(kinds).slice(0, 2), [8, 16]))
  test(`${number} clients that refund most of an exhausted window of several seconds use it: ${kind}`, () => {
    for (const [refund, least] of [
      [0.6, 0.93],
      [0.9, 0.8],
    ] as const) {
      const limits = [{ ...kinds[kind](1000), interval: 2_500 } as Limit];
      const clients = Array.from({ length: number }, () => ({ ...waits, waiting: 100, refund }));
      const kept = keptBy(
        contend({ limits, clients, ...measured, jitter: 0.3, warmUp: 5_000, span: 10_000 }),
      );
      assert.ok(sum(kept) >= least * 4000, `${sum(kept)} of 4000 permits with ${refund * 100} %`);
      assert.ok(jain(kept) >= 0.95, `${kept} permits with ${refund * 100} %`);
    }
  });

/** The part that is kept of each kind. */
const short: [
  permits: number,
  number: number,
  waiting: number,
  refundWithin: number,
  Record<string, number>,
][] = [
  [100, 8, 1, 300, { 'a sliding window': 0.95, 'a fixed window': 0.95 }],
  [100, 16, 1, 5, { 'a sliding window': 0.96, 'a fixed window': 0.99 }],
  [100, 16, 4, 5, { 'a sliding window': 0.96, 'a fixed window': 0.99 }],
  [1000, 8, 4, 300, { 'a sliding window': 0.97, 'a fixed window': 0.97 }],
];
for (const [kind, [permits, number, waiting, refundWithin, least]] of cases(
  Object.keys(kinds).slice(0, 2),
  short,
))
  test(`${number} clients with ${waiting} queued requests that refund 90 % of ${permits} within ${refundWithin} ms keep what one queue would keep in several seconds of ${kind}`, () => {
    const limit = { ...kinds[kind](permits), interval: 2_500 } as Limit;
    const habits = { ...waits, waiting, refund: 0.9, refundWithin };
    const { part, calls } = againstIdeal(limit, number, habits, manyWindows(limit));
    assert.ok(part >= least[kind], `${part} of the ideal`);
    assert.ok(calls <= 1.4, `${calls} calls for each permit`);
  });

/** Fleets that give back 8 of 10 permits of a fifth, or a tenth of a limit: at most so many calls for each request. */
const mostCalls: [
  permits: number,
  seconds: number,
  number: number,
  waiting: number,
  Record<string, number>,
][] = [
  [50, 1, 2, 4, { 'a sliding window': 2.7, 'a fixed window': 1.7 }],
  [50, 1, 16, 1, { 'a sliding window': 5.2, 'a fixed window': 2.2 }],
  [50, 1, 16, 4, { 'a sliding window': 5.2, 'a fixed window': 2.2 }],
  [100, 2.5, 2, 4, { 'a sliding window': 1.7, 'a fixed window': 1.3 }],
  [100, 2.5, 16, 4, { 'a sliding window': 2.6, 'a fixed window': 1.5 }],
];
for (const [kind, [permits, seconds, number, waiting, most]] of cases(
  Object.keys(kinds).slice(0, 2),
  mostCalls,
))
  test(`${number} clients with ${waiting} queued requests of 10 permits that give back 8 within 100 ms keep 0.95 of what one queue would keep of ${permits} in ${seconds} s of ${kind}`, () => {
    const limit = { ...kinds[kind](permits), interval: 1000 * seconds } as Limit;
    const habits = { ...waits, waiting, costs: [[10]], refund: 1, part: 0.8, refundWithin: 100 };
    const { part, jain, calls } = againstIdeal(limit, number, habits, { ...manyWindows(limit), seeds: 8 });
    assert.ok(part >= 0.95, `${part} of the ideal`);
    assert.ok(jain >= 0.98, `Jain's index is ${jain}`);
    assert.ok(calls <= most[kind], `${calls} calls for each request`);
  });

/** Fleets whose refunds come late, and the part of each kind that they keep. */
const late: [
  permits: number,
  seconds: number,
  number: number,
  waiting: number,
  least: Record<string, number>,
][] = [
  [100, 2.5, 16, 1, { 'a sliding window': 0.95, 'a fixed window': 0.95, 'a token bucket': 0.96 }],
  [50, 1, 16, 4, { 'a sliding window': 0.96, 'a fixed window': 0.95, 'a token bucket': 0.95 }],
  [50, 1, 16, 100, { 'a sliding window': 0.95, 'a fixed window': 0.95, 'a token bucket': 0.94 }],
  [50, 1, 2, 4, { 'a sliding window': 0.96, 'a fixed window': 0.96, 'a token bucket': 0.95 }],
  [100, 2.5, 16, 4, { 'a sliding window': 0.95, 'a fixed window': 0.95, 'a token bucket': 0.96 }],
];
for (const [[permits, seconds, number, waiting, least], kind] of cases(late, [
  'a sliding window',
  'a fixed window',
  'a token bucket',
]))
  test(`${number} clients with ${waiting} queued requests that refund 90 % of ${permits} within half a second keep what one queue would keep in ${seconds} s of ${kind}`, () => {
    const interval = 1000 * seconds;
    const habits = { ...waits, waiting, refund: 0.9, refundWithin: 500 };
    const limit = { ...kinds[kind](permits), interval } as Limit;
    const { part, jain, calls } = againstIdeal(limit, number, habits, { ...manyWindows(limit), seeds: 16 });
    assert.ok(part >= least[kind], `${part} of the ideal`);
    assert.ok(jain >= 0.95, `Jain's index is ${jain}`);
    // In turns, the next request of an empty queue waits for its client's turn, too.
    assert.ok(calls <= (seconds > 1 ? 1.4 : 1.9), `${calls} calls for each permit`);
  });

for (const [[permits, interval], [name, waste], kind] of cases(
  [
    [10, 1000],
    [20, 1000],
    [50, 1000],
    [100, 2500],
  ],
  wasteful,
  ['a sliding window', 'a fixed window', 'a token bucket'],
))
  test(`a client that ${name} leaves five others their fair shares of ${kind} of ${permits} in ${interval} ms, which is used`, () => {
    const limit = { ...kinds[kind](permits), interval } as Limit;
    // Of few permits, chance decides how many each client gets.
    const during = { ...manyWindows(limit), seeds: Math.max(4, Math.round(160 / permits)) };
    const { part, least } = besideWasteful(limit, waste, 5, 4, during);
    assert.ok(least >= 0.97, `${least} of a fair share`);
    assert.ok(part >= 0.95, `${part} of what one queue would keep`);
  });

const trips = [
  [0.3, 40],
  [0.3, 200],
  [2, 2, 2, 200],
] as const;
for (const [kind, permits, roundTrips] of cases(Object.keys(all) as (keyof typeof all)[], [100, 1000], trips))
  test(`clients with round trips of ${roundTrips.join(', ')} ms have fair shares of ${kind} of ${permits}`, () => {
    const clients = roundTrips.map((roundTrip) => ({ ...waits, waiting: permits / 2, roundTrip }));
    const kept = keptBy(contend({ limits: [all[kind](permits)], clients, ...measured }));
    assert.ok(sum(kept) >= 0.98 * permits * seconds, `${sum(kept)} of ${permits * seconds} permits`);
    assert.ok(jain(kept) >= 0.95, `${kept} permits`);
  });

for (const [kind, permits] of cases(Object.keys(all) as (keyof typeof all)[], [100, 1000]))
  test(`clients with round trips of half a second each use ${kind} of ${permits}`, () => {
    const clients = Array.from({ length: 3 }, () => ({ ...waits, waiting: permits / 2 }));
    const kept = keptBy(contend({ limits: [all[kind](permits)], clients, ...measured, roundTrip: 500 }));
    assert.ok(sum(kept) >= 0.95 * permits * seconds, `${sum(kept)} of ${permits * seconds} permits`);
    assert.ok(jain(kept) >= 0.95, `${kept} permits`);
  });

for (const [kind, number, least] of [
  ['a sliding window', 2, 0.9],
  ['a fixed window', 8, 0.95],
] as const)
  test(`a bucket beside ${kind} costs nothing, although 90 % is refunded`, () => {
    const limits = [kinds[kind](1000), tokenBucket({ permits: 1000, interval: 1000 })];
    const habits = { ...waits, waiting: 100, refund: 0.9, refundWithin: 5 };
    const kept = keptBy(
      contend({ limits, clients: Array.from({ length: number }, () => habits), ...measured }),
    );
    assert.ok(sum(kept) >= least * 1000 * seconds, `${sum(kept)} of ${1000 * seconds} permits`);
    assert.ok(jain(kept) >= 0.95, `Jain's index is ${jain(kept)}`);
  });

const sizes = [
  [653, 2877, 3, 1, [25, 38, 153], 0.97],
  [100, 1000, 4, 5, [1, 10, 30], 0.955],
  [100, 1000, 4, 5, [5, 25], 0.98],
  [1000, 3000, 5, 10, [50, 200, 300], 0.96],
] as const;
for (const [[permits, interval, clients, waiting, costs, least]] of cases(sizes))
  test(`${clients} clients with requests for ${costs} of ${permits} in ${interval} ms use a sliding window, though none is refunded`, () => {
    const habits = { ...waits, waiting, costs: costs.map((cost) => [cost]) };
    const limits = [slidingWindow({ permits, interval })];
    const { part, jain } = usedBy({ limits, clients, habits, name: '' });
    assert.ok(part >= least, `${part} of one queue`);
    assert.ok(jain >= 0.99, `Jain's index is ${jain}`);
  });

const refunds = [
  [0.6, 300],
  [0.9, 5],
] as const;
for (const [kind, permits, [refund, refundWithin]] of cases(Object.keys(kinds), [10, 50], refunds))
  test(`large requests keep their fair share of ${kind} of ${permits}, though small ones refund ${refund * 100} %`, () => {
    const small = { ...waits, refund, refundWithin };
    const clients = [{ ...waits, costs: [[permits / 2]] }, ...Array.from({ length: 9 }, () => small)];
    const outcome = contend({ limits: [kinds[kind](permits)], clients, ...measured, span: 12_000 });
    const [large] = keptBy(outcome);
    assert.ok(large >= 1.2 * permits, `${large} of ${12 * permits} permits`);
    assert.ok(outcome.longest < 5000, `a request waited for ${outcome.longest} ms`);
  });

for (const [number, waiting, least] of [
  [1, 24, 0.86],
  [3, 24, 0.9],
  [8, 6, 0.9],
] as const)
  test(`clients, ${number} in number, with ${waiting} queued requests keep a fixed window of 113 ms of which 88 % is refunded within 6 ms`, () => {
    const limit = fixedWindow({ permits: 87, interval: 113 });
    const habits = { ...waits, waiting, refund: 0.88, refundWithin: 6 };
    const during = { ...manyWindows(limit, 10_000), seeds: 8 };
    const { part, jain, calls } = againstIdeal(limit, number, habits, during);
    assert.ok(part >= least, `${part} of the ideal`);
    assert.ok(jain >= 0.98, `Jain's index is ${jain}`);
    assert.ok(calls <= 0.6, `${calls} calls for each permit`);
  });

test('three clients keep a sliding window of which they cancel most small and large requests within 31 ms', () => {
  const limit = slidingWindow({ permits: 299, interval: 464 });
  const habits = { ...waits, waiting: 2, costs: [[3], [38], [68]], cancel: 0.81, cancelWithin: 31 };
  const { part, jain } = againstIdeal(limit, 3, habits, { ...manyWindows(limit, 20_000), seeds: 16 });
  assert.ok(part >= 0.87, `${part} of the ideal`);
  assert.ok(jain >= 0.98, `Jain's index is ${jain}`);
});

test('a window of minutes is granted in equal shares soon after it resets, a permit a second', () => {
  const interval = 100_000;
  const limit = fixedWindow({ permits: 30, interval, align: 'epoch' });
  const clients = [1, 20, 60].map((waiting) => ({ ...waits, waiting }));
  const outcome = contend({
    ...{ limits: [limit], clients, roundTrip: 50, warmUp: interval, span: 3 * interval, seed: 1 },
  });
  // The measurement may begin and end between the grants of a window.
  for (const permits of keptBy(outcome)) assert.ok(Math.abs(permits - 30) <= 1, `${keptBy(outcome)}`);
  for (const { moment } of outcome.standing)
    assert.ok(moment % interval <= 30_000, `granted ${moment % interval} ms after the reset`);
});

/** Of fewer fleets, chance decides too much of the mean. */
const many = 40;

test('limits are fully used, in fair shares, and by no more than they allow, whatever is cancelled or refunded', () => {
  const fleets = runsOf(60);
  let total = 0;
  for (let i = 0; i < fleets; i++) {
    const fleet = usedFleet(seed() + i);
    const { part, jain, used, most } = usedBy(fleet);
    const which = `SLUICE_SEED=${seed() + i} SLUICE_RUNS=1: ${fleet.name}`;
    // Single fleets differ by chance: five of 1,016 kept less than 0.95, the least 0.930; in six times as many histories, 0.947.
    assert.ok(part >= 0.88, `${part} of what one queue would keep, ${which}`);
    // Of few large requests, chance decides whose are kept: 0.943 was the least, and 0.992 of this one in six times as many.
    assert.ok(jain >= 0.85, `Jain's index is ${jain}, ${which}`);
    assert.ok(used <= most, `${used} of a limit, ${which}`);
    // In a window, small requests may pass large ones that wait: a fleet that keeps more than the queue hides no other one.
    total += Math.min(1, part);
  }
  if (fleets >= many) assert.ok(total >= 0.97 * fleets, `${total / fleets} of what one queue would keep`);
});

test.run();
