// Deterministic: the clock is a fake one, and the clients' habits follow from the seeds.
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../src/limits/limit.ts';
import { againstIdeal, type Comparison, manyWindows } from '../test/contention/againstIdeal.ts';
import { type Habits, waits } from '../test/contention/contend.ts';
import { ideal } from '../test/contention/ideal.ts';
import { besideWasteful, wasteful } from '../test/contention/wasteful.ts';
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
export function run(): void {
  compareEqual();
  compareUnequal();
  compareEvenCalls();
}

/** What 16 clients would keep that call one after the other at an even pace, and reserve nothing. */
function compareEvenCalls(): void {
  const [soon, late, estimates] = mixes;
  const compared: [limit: Limit, mix: [string, Habits], waiting: number][] = [
    [fixedWindow({ permits: 100, interval: 2_500 }), late, 1],
    [fixedWindow({ permits: 100, interval: 2_500 }), late, 4],
    [slidingWindow({ permits: 100, interval: 2_500 }), soon, 4],
    [slidingWindow({ permits: 100, interval: 2_500 }), soon, 1],
    [slidingWindow({ permits: 50, interval: 1_000 }), estimates, 4],
  ];
  const paces = [2, 3, 4, 10, 20, 30];
  const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
  const rows = compared.map(([limit, [mix, habits], waiting]) => {
    const clients = Array(16).fill({ ...habits, waiting });
    const contention = { limits: [limit], clients, ...manyWindows(limit) };
    const keptAt = (every: number, most: number) =>
      seeds.reduce((sum, seed) => sum + ideal({ ...contention, seed }, { every, most }).kept[0], 0);
    const best = keptAt(1, Infinity);
    /** Kept permits of a granted request, on average. */
    const each = habits.costs[0][0] * (1 - habits.refund * habits.part);
    return [
      `${limit.kind} of ${limit.permits} in ${limit.interval} ms, ${mix}, 16 x ${waiting}`,
      ...paces.flatMap((every) => {
        const kept = keptAt(every, waiting);
        return [kept / best, (seeds.length * contention.span * each) / every / kept];
      }),
    ];
  });
  const heads = paces.flatMap((ms) => [`every ${ms} ms: part`, 'calls']);
  printTable(['one queue, served by calls', ...heads], rows);
}

function compareUnequal(): void {
  const rows = kinds.flatMap(([kind, limitOf]) =>
    rates.slice(0, 2).map(([permits, seconds]) => {
      const limit = limitOf({ permits, interval: seconds * 1_000 });
      const compared = wasteful.map(([, waste]) => besideWasteful(limit, waste));
      return [
        `${kind} of ${permits} in ${seconds} s`,
        ...compared.flatMap(({ part, least, calls }) => [part, least, calls]),
      ];
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
        const limit = limitOf({ permits, interval: seconds * 1_000 });
        // Of few permits, chance decides much.
        const during = permits >= 1_000 ? manyWindows(limit, 5_000) : { ...manyWindows(limit), seeds: 16 };
        const compared = mixes.map(([, habits]) =>
          againstIdeal(limit, clients, { ...habits, waiting }, during),
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
