// Deterministic: the clock is a fake one, and the clients' habits follow from the seeds.
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../src/limits/limit.ts';
import { contend } from '../test/contention/contend.ts';
import { ideal } from '../test/contention/ideal.ts';
import { printTable } from './support/table.ts';

export const question =
  'At low rates, which part of what one queue would keep do clients keep that refund most of their permits?';

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
const measured = { roundTrip: 1, warmUp: 3_000, span: 30_000 };

/** The kept part, the longest wait in seconds, and the calls for each granted permit. */
function measure(limit: Limit, clients: number, refund: number, refundWithin: number): number[] {
  const habits = {
    ...{ waiting: 1, costs: [[1]], cancel: 0, cancelWithin: 1, refund, refundWithin, part: 1 },
  };
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
  for (const refundWithin of [5, 500]) {
    const rows: (string | number)[][] = [];
    for (const [kind, limitOf] of kinds)
      for (const [permits, clients] of fleets)
        rows.push([
          `${kind} of ${permits}/s, ${clients} clients`,
          ...[0, 0.6, 0.9].flatMap((refund) => measure(limitOf(permits), clients, refund, refundWithin)),
        ]);
    const columns = [0, 60, 90].flatMap((part) => [`${part} %: part`, 'longest, s', 'calls']);
    printTable([`refunds within ${refundWithin} ms`, ...columns], rows);
    console.log();
  }
}
