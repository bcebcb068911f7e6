// Deterministic: the clock is a fake one, and the refunds follow from the seeds.
import { fixedWindow, slidingWindow, tokenBucket } from '../src/limits/limit.ts';
import { fleetAgainstIdeal, manyWindows } from '../test/contention/againstIdeal.ts';
import { bySize } from '../test/contention/contend.ts';
import { printTable } from './support/table.ts';

export const question = 'How equally do clients share 100 permits a second whose requests differ in size?';

const limits = [slidingWindow, fixedWindow, tokenBucket].map((limitOf) =>
  limitOf({ permits: 100, interval: 1_000 }),
);
const sizes = [
  [5, 50],
  [1, 25],
  [1, 10],
];
/** The refunded part, and the milliseconds within which it is refunded. */
const refunds = [
  [0, 5],
  [0.1, 5],
  [0.5, 5],
  [0.6, 1_000],
];

export function run(): void {
  const heads = refunds.flatMap(([part, ms]) => [`${part * 100} % in ${ms} ms: part`, 'Jain', 'calls']);
  const rows = limits.flatMap((limit) =>
    sizes.flatMap((ofClients) =>
      [2, 4].map((clients) => [
        `${limit.kind}, ${clients} clients with requests for ${ofClients.join(' or ')}`,
        ...refunds.flatMap(([refund, refundWithin]) => {
          const fleet = bySize({ refund, refundWithin }, ofClients, clients, 100);
          const { part, jain, calls } = fleetAgainstIdeal(limit, fleet, {
            ...manyWindows(limit, 20_000),
            seeds: 8,
          });
          return [part, jain, calls];
        }),
      ]),
    ),
  );
  printTable(['100 permits queued by each', ...heads], rows);
}
