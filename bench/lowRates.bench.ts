// Deterministic: the clock is a fake one, and the clients' habits follow from the seeds.
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../src/limits/limit.ts';
import { againstIdeal, fleetAgainstIdeal, manyWindows, measured } from '../test/contention/againstIdeal.ts';
import { type Habits, waits } from '../test/contention/contend.ts';
import { wordsOf } from '../test/contention/limitWords.ts';
import { besideWasteful, wasteful } from '../test/contention/wasteful.ts';
import { printTable } from './support/table.ts';

export const question =
  'Which part of what one queue would keep do clients keep that refund permits, at low rates or with mixed costs?';

const interval = 1_000;
type LimitOf = (permits: number, interval?: number) => Limit;
const kinds: [string, LimitOf][] = [
  ['sliding window', (permits, within = interval) => slidingWindow({ permits, interval: within })],
  ['fixed window', (permits, within = interval) => fixedWindow({ permits, interval: within })],
  ['token bucket', (permits, within = interval) => tokenBucket({ permits, interval: within })],
];
/** Permits a second, and clients with one queued request each. */
const fleets = [
  [20, 10],
  [10, 2],
  [10, 10],
  [5, 8],
  [2, 2],
  [2, 10],
  [1, 10],
];

/** Permits, milliseconds of the interval, and clients, whose reservations would take up most of it. */
const crowds = [
  [5, 20, 8],
  [5, 100, 8],
  [20, 1_000, 64],
  [50, 1_000, 64],
  [100, 1_000, 64],
  [150, 1_000, 64],
];

/** Permits a second, and clients beside one that wastes most of what it takes. */
const wastedOn = [
  [1, 2],
  [2, 2],
  [2, 11],
  [5, 5],
  [10, 5],
  [20, 5],
];

/** Permits, milliseconds of the interval, and clients, half of which refund most of what they take late. */
const halves = [
  [2, 1_000, 8],
  [30, 500, 32],
  [30, 500, 64],
  [10, 1_000, 64],
  [20, 1_000, 20],
  [50, 1_000, 40],
];

/** Other limits, clients, the costs of their requests, and the refunded part, within milliseconds. */
const other: [Limit, number, number[], number, number][] = [
  [tokenBucket({ permits: 20, interval, burst: 3 }), 16, [1], 0.9, 5],
  [tokenBucket({ permits: 5, interval: 100 }), 8, [1], 0.9, 5],
  [tokenBucket({ permits: 50, interval, burst: 1 }), 8, [1], 0.9, 5],
  [tokenBucket({ permits: 5, interval, burst: 1 }), 8, [1], 0.6, 5],
  [tokenBucket({ permits: 20, interval, burst: 1 }), 3, [1], 0.3, 5],
  [tokenBucket({ permits: 300, interval: 50, burst: 900 }), 64, [44, 54, 245], 0.6, 50],
  [tokenBucket({ permits: 300, interval: 200 }), 16, [1], 0.9, 500],
  [tokenBucket({ permits: 100, interval }), 64, [1], 0.6, 1],
  [fixedWindow({ permits: 100, interval: 200 }), 16, [10], 0.9, 5],
  [fixedWindow({ permits: 100, interval: 200 }), 16, [2, 8, 19], 0.9, 5],
  [fixedWindow({ permits: 50, interval }), 16, [5], 0.9, 50],
  [fixedWindow({ permits: 10, interval: 200 }), 40, [1], 0.9, 70],
  [slidingWindow({ permits: 100, interval: 200 }), 16, [10], 0.9, 50],
];

/** Permits, milliseconds of a long interval, and clients. */
const long = [
  [50, 10_000, 64],
  [300, 10_000, 64],
  [1000, 10_000, 3],
  [60, 60_000, 16],
  [1000, 60_000, 16],
];

/** Of single histories of so few permits, chance decides most: the fewer they are, the more seeds. */
const manyOf = (permits: number) => ({
  ...measured,
  ...{ warmUp: 6000, span: 60_000, fade: interval, seeds: permits > 10 ? 16 : 64 },
});

/** The kept part, the longest wait in seconds, and the calls for each granted permit. */
function measure(limit: Limit, clients: number, habits: Habits): number[] {
  const { part, longest, calls } = againstIdeal(limit, clients, habits, manyOf(limit.permits));
  return [part, longest / 1_000, calls];
}

export function run(): void {
  compareEqual();
  compareCrowds();
  compareWasteful();
  compareHalves();
  compareOther();
  compareLong();
  compareMixedCosts();
}

const columns = [0, 60, 90].flatMap((part) => [`${part} %: part`, 'longest, s', 'calls']);

/** Clients with the same habits. */
function compareEqual(): void {
  for (const refundWithin of [5, 500]) {
    const rows: (string | number)[][] = [];
    for (const [kind, limitOf] of kinds)
      for (const [permits, clients] of fleets)
        rows.push([
          `${kind} of ${permits}/s, ${clients} clients`,
          ...[0, 0.6, 0.9].flatMap((refund) =>
            measure(limitOf(permits), clients, { ...waits, refund, refundWithin }),
          ),
        ]);
    printTable([`refunds within ${refundWithin} ms`, ...columns], rows);
    console.log();
  }
}

function compareCrowds(): void {
  const crowded = { ...manyWindows(slidingWindow({ permits: 1, interval }), 20_000), seeds: 8 };
  for (const refundWithin of [5, 500])
    printTable(
      [
        `refunds within ${refundWithin} ms`,
        ...[30, 60, 90].flatMap((part) => [`${part} %: part`, 'Jain', 'calls']),
      ],
      kinds.flatMap(([kind, limitOf]) =>
        crowds.map(([permits, interval, clients]) => [
          `${kind} of ${permits} in ${interval} ms, ${clients} clients`,
          ...[0.3, 0.6, 0.9].flatMap((refund) => {
            const limit = limitOf(permits, interval);
            const { part, jain, calls } = againstIdeal(
              limit,
              clients,
              { ...waits, refund, refundWithin },
              crowded,
            );
            return [part, jain, calls];
          }),
        ]),
      ),
    );
  console.log();
}

function compareWasteful(): void {
  const [soon, late] = wasteful;
  printTable(
    [
      'one client with one queued request',
      ...[soon, late].flatMap(([name]) => [`${name}: part`, 'least share']),
    ],
    kinds.flatMap(([kind, limitOf]) =>
      wastedOn.map(([permits, others]) => [
        `${kind} of ${permits}/s, ${others} others`,
        ...[soon, late].flatMap(([, waste]) => {
          const { part, least } = besideWasteful(limitOf(permits), waste, others, 1, manyOf(permits));
          return [part, least];
        }),
      ]),
    ),
  );
  console.log();
}

/** The others keep everything. */
function compareHalves(): void {
  const wastes = { ...waits, refund: 0.9, refundWithin: 500 };
  printTable(
    ['half of the clients refund 90 % in 500 ms', 'part', 'least share', 'calls'],
    kinds.flatMap(([kind, limitOf]) =>
      halves.map(([permits, interval, clients]) => {
        const fleet = Array.from({ length: clients }, (_, i) => (i < clients / 2 ? wastes : waits));
        const limit = limitOf(permits, interval);
        const { part, shares, calls } = fleetAgainstIdeal(limit, fleet, {
          ...manyWindows(limit, 20_000),
          seeds: 16,
        });
        const least = Math.min(...shares.slice(clients / 2));
        return [`${kind} of ${permits} in ${interval} ms, ${clients} clients`, part, least, calls];
      }),
    ),
  );
  console.log();
}

function compareOther(): void {
  printTable(
    ['other limits', 'part', 'longest, s', 'calls'],
    other.map(([limit, clients, costs, refund, refundWithin]) => {
      const habits = { ...waits, costs: costs.map((n) => [n]), refund, refundWithin };
      const during = { ...manyWindows(limit, 8_000), seeds: 8 };
      const { part, longest, calls } = againstIdeal(limit, clients, habits, during);
      const title = `${wordsOf(limit)}, ${clients} clients, costs ${costs.join(' or ')}`;
      return [`${title}, ${refund * 100} % in ${refundWithin} ms`, part, longest / 1_000, calls];
    }),
  );
  console.log();
}

function compareLong(): void {
  const refunds = [5, 500, 3_000];
  printTable(
    ['90 % are refunded', ...refunds.flatMap((within) => [`in ${within} ms: part`, 'longest, s', 'calls'])],
    kinds.flatMap(([kind, limitOf]) =>
      long.map(([permits, interval, clients]) => [
        `${kind} of ${permits} in ${interval / 1_000} s, ${clients} clients`,
        ...refunds.flatMap((refundWithin) => {
          const limit = limitOf(permits, interval);
          const during = { ...manyWindows(limit, 4 * interval), seeds: 3 };
          const compared = againstIdeal(limit, clients, { ...waits, refund: 0.9, refundWithin }, during);
          return [compared.part, compared.longest / 1_000, compared.calls];
        }),
      ]),
    ),
  );
  console.log();
}

function compareMixedCosts(): void {
  const mixed = { ...waits, waiting: 20, costs: [[1], [5], [50]], refundWithin: 50 };
  printTable(
    ['costs of 1, 5 and 50 of 100/s, 4 clients', ...columns],
    kinds.map(([kind, limitOf]) => [
      kind,
      ...[0, 0.6, 0.9].flatMap((refund) => measure(limitOf(100), 4, { ...mixed, refund })),
    ]),
  );
}
