// Deterministic: the clock is a fake one, and the clients' habits follow from the seeds.
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../src/limits/limit.ts';
import { againstIdeal, type Comparison, fleetAgainstIdeal } from '../test/contention/againstIdeal.ts';
import { type Habits, waits } from '../test/contention/contend.ts';
import { ideal } from '../test/contention/ideal.ts';
import { printTable } from './support/table.ts';

export const question =
  'Which part of what one queue would keep do clients keep whose permits come back, how equally, and at how many calls?';

type LimitOf = (spec: { permits: number; interval: number }) => Limit;
const kinds: [string, LimitOf][] = [
  ['sliding window', slidingWindow],
  ['fixed window', fixedWindow],
  ['token bucket', tokenBucket],
];
/** Permits, and their interval in seconds. */
const rates = [
  [50, 1],
  [100, 2.5],
  [1000, 2.5],
];
/** Clients, and queued requests of each. */
const fleets = [
  [2, 4],
  [16, 1],
  [16, 4],
  [16, 100],
];
const estimate = { ...waits, costs: [[10]], refund: 1, part: 0.8 };
const mixes: [string, Habits][] = [
  ['90 % in 5 ms', { ...waits, refund: 0.9, refundWithin: 5 }],
  ['90 % in 500 ms', { ...waits, refund: 0.9, refundWithin: 500 }],
  ['8 of 10 in 100 ms', { ...estimate, refundWithin: 100 }],
  ['half cancelled, refunded', { ...waits, cancel: 0.5, cancelWithin: 300, refund: 0.5, refundWithin: 50 }],
];
/** What one of six clients does, while the others keep all permits. */
const wasteful: [string, Habits][] = [
  ['refunds 95 % in 5 ms', { ...waits, waiting: 4, refund: 0.95, refundWithin: 5 }],
  ['refunds 95 % in 500 ms', { ...waits, waiting: 4, refund: 0.95, refundWithin: 500 }],
  ['cancels 95 % in 100 ms', { ...waits, waiting: 4, cancel: 0.95, cancelWithin: 100 }],
];

export function run(): void {
  compareEqual();
  compareUnequal();
  compareEvenCalls();
}

/** What 16 clients would keep that call one after the other at an even pace, and reserve nothing. */
function compareEvenCalls(): void {
  const [soon, late, estimates] = mixes.map(([, habits]) => habits);
  const cases: [name: string, limitOf: LimitOf, permits: number, seconds: number, habits: Habits][] = [
    ['fixed window of 100 in 2.5 s, 90 % in 500 ms, 16 x 1', fixedWindow, 100, 2.5, late],
    ['fixed window of 100 in 2.5 s, 90 % in 500 ms, 16 x 4', fixedWindow, 100, 2.5, { ...late, waiting: 4 }],
    [
      'sliding window of 100 in 2.5 s, 90 % in 5 ms, 16 x 4',
      slidingWindow,
      100,
      2.5,
      { ...soon, waiting: 4 },
    ],
    ['sliding window of 100 in 2.5 s, 90 % in 5 ms, 16 x 1', slidingWindow, 100, 2.5, soon],
    [
      'sliding window of 50 in 1 s, 8 of 10 in 100 ms, 16 x 4',
      slidingWindow,
      50,
      1,
      { ...estimates, waiting: 4 },
    ],
  ];
  const paces = [2, 3, 4, 10, 20, 30];
  const rows = cases.map(([name, limitOf, permits, seconds, habits]) => {
    const interval = seconds * 1_000;
    const contention = {
      limits: [limitOf({ permits, interval })],
      clients: Array(16).fill(habits),
      ...{ roundTrip: 2, jitter: 0.3, warmUp: 2.6 * interval, span: 25_000 },
    };
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
    const keptAt = (every: number, most: number) =>
      seeds.reduce((sum, seed) => sum + ideal({ ...contention, seed }, { every, most })[0], 0);
    const best = keptAt(1, Infinity);
    /** Kept permits of a granted request, on average. */
    const each = habits.costs[0][0] * (1 - habits.refund * habits.part);
    return [
      name,
      ...paces.flatMap((every) => {
        const kept = keptAt(every, habits.waiting);
        return [kept / best, (seeds.length * contention.span * each) / every / kept];
      }),
    ];
  });
  printTable(
    ['one queue, served by calls', ...paces.flatMap((ms) => [`every ${ms} ms: part`, 'calls'])],
    rows,
  );
}

/** One client wastes what it takes: the others keep their fair shares, and what it gives back. */
function compareUnequal(): void {
  const rows = kinds.flatMap(([kind, limitOf]) =>
    rates.slice(0, 2).map(([permits, seconds]) => {
      const interval = seconds * 1_000;
      const during = { roundTrip: 2, jitter: 0.3, warmUp: 2.6 * interval, span: 25_000 };
      const compared = wasteful.flatMap(([, habits]) => {
        const clients = [habits, ...Array(5).fill({ ...waits, waiting: 4 })];
        const { part, shares, calls } = fleetAgainstIdeal(limitOf({ permits, interval }), clients, during);
        return [part, Math.min(...shares.slice(1)), calls];
      });
      return [`${kind} of ${permits} in ${seconds} s`, ...compared];
    }),
  );
  const heads = wasteful.flatMap(([name]) => [`${name}: part`, 'least share', 'calls']);
  printTable(['one of six clients', ...heads], rows);
}

function compareEqual(): void {
  const all: Comparison[][] = [];
  const rows: (string | number)[][] = [];
  for (const [kind, limitOf] of kinds)
    for (const [permits, seconds] of rates)
      for (const [clients, waiting] of fleets) {
        const interval = seconds * 1_000;
        const span = permits >= 1_000 ? 5_000 : 25_000;
        const compared = mixes.map(([, habits]) =>
          againstIdeal(
            limitOf({ permits, interval }),
            clients,
            { ...habits, waiting },
            // The measurement begins between the bursts in which windows grant.
            { roundTrip: 2, jitter: 0.3, warmUp: 2.6 * interval, span },
          ),
        );
        all.push(compared);
        rows.push([
          `${kind} of ${permits} in ${seconds} s, ${clients} x ${waiting}`,
          ...compared.flatMap(({ part, jain, calls }) => [part, jain, calls]),
        ]);
      }
  const over = (of: (numbers: number[]) => number, worstOfCalls: (numbers: number[]) => number) =>
    mixes.flatMap((_, i) => [
      of(all.map((compared) => compared[i].part)),
      of(all.map((compared) => compared[i].jain)),
      worstOfCalls(all.map((compared) => compared[i].calls)),
    ]);
  const mean = (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
  rows.push(['mean', ...over(mean, mean)]);
  rows.push([
    'worst',
    ...over(
      (numbers) => Math.min(...numbers),
      (numbers) => Math.max(...numbers),
    ),
  ]);
  printTable(
    ['clients x queued requests', ...mixes.flatMap(([name]) => [`${name}: part`, 'Jain', 'calls'])],
    rows,
  );
}
