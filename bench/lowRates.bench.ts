// Deterministic: the clock is a fake one, and the clients' habits follow from the seeds.
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../src/limits/limit.ts';
import { contend, type Habits, waits } from '../test/contention/contend.ts';
import { ideal } from '../test/contention/ideal.ts';
import { printTable } from './support/table.ts';

export const question =
  'Which part of what one queue would keep do clients keep that refund permits, at low rates or with mixed costs?';

const interval = 1_000;
const kinds: [string, (permits: number) => Limit][] = [
  ['sliding window', (permits) => slidingWindow({ permits, interval })],
  ['fixed window', (permits) => fixedWindow({ permits, interval })],
  ['token bucket', (permits) => tokenBucket({ permits, interval })],
];
/** Permits a second, and clients with one queued request each. */
const fleets = [
  [10, 2],
  [10, 10],
  [2, 2],
  [2, 10],
  [1, 10],
];
const seeds = [1, 2, 3];
const measured = { roundTrip: 2, warmUp: 3_000, span: 30_000 };

/** The kept part, the longest wait in seconds, and the calls for each granted permit. */
function measure(limit: Limit, clients: number, habits: Habits): number[] {
  let [kept, best, longest, calls, granted] = [0, 0, 0, 0, 0];
  for (const seed of seeds) {
    const contention = {
      ...{ limits: [limit], clients: Array.from({ length: clients }, () => habits), ...measured, seed },
    };
    const outcome = contend(contention);
    for (const [permits] of outcome.kept) kept += permits;
    best += ideal(contention)[0];
    longest = Math.max(longest, outcome.longest);
    calls += outcome.calls;
    granted += outcome.granted;
  }
  return [kept / best, longest / 1_000, calls / granted];
}

export function run(): void {
  const columns = [0, 60, 90].flatMap((part) => [`${part} %: part`, 'longest, s', 'calls']);
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
  const mixed = { ...waits, waiting: 20, costs: [[1], [5], [50]], refundWithin: 50 };
  printTable(
    ['costs of 1, 5 and 50 of 100/s, 4 clients', ...columns],
    kinds.map(([kind, limitOf]) => [
      kind,
      ...[0, 0.6, 0.9].flatMap((refund) => measure(limitOf(100), 4, { ...mixed, refund })),
    ]),
  );
}
