// Grants that use more than they asked for, and charge the excess, beside those that give a part back.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { runsOf } from '../support/campaign.ts';
import { cases } from '../support/cases.ts';
import { randomFrom, seed } from '../support/seed.mjs';
import { againstIdeal, manyWindows } from './againstIdeal.ts';
import { waits } from './contend.ts';
import { usedBy, usedFleet } from './usedFleet.ts';

const kinds: Record<string, typeof slidingWindow | typeof fixedWindow | typeof tokenBucket> = {
  'a fixed window': fixedWindow,
  'a sliding window': slidingWindow,
  'a token bucket': tokenBucket,
};
const habits = { ...waits, waiting: 20, costs: [[2]], part: 0.5, refundWithin: 100 };

function settled(limit: Limit, number: number, refund: number, excess: number, span: number) {
  const compared = againstIdeal(
    limit,
    number,
    { ...habits, refund, excess },
    { ...manyWindows(limit, span), seeds: 1 },
  );
  return { ...compared, used: (compared.rate * limit.interval) / limit.permits / 1000 };
}

// In one client on a fixed window of five seconds, 1.4 times the limit was used while an excess was void with the reservations.
const rates = [
  [100, 5000],
  [600, 30_000],
  [50, 1000],
  [500, 500],
] as const;
for (const [kind, [permits, interval]] of cases(Object.keys(kinds), rates))
  test(`what is used beyond an estimate counts, and the rest is used: ${kind} of ${permits} in ${interval} ms`, () => {
    for (const number of [1, 3, 8])
      for (const [refund, excess] of [
        [0.7, 1],
        [0.5, 0.2],
        [0, 0.3],
      ] as const) {
        const limit = kinds[kind]({ permits, interval });
        const { part, used, jain } = settled(limit, number, refund, excess, Math.max(40_000, 6 * interval));
        const which = `by ${number} clients that refund ${refund * 100} %`;
        assert.ok(used <= 1.04, `${used} of the limit is used ${which}`);
        assert.ok(part >= 0.95, `${part} of what one queue would keep ${which}`);
        assert.ok(jain >= 0.97, `Jain's index is ${jain} ${which}`);
      }
  });

test('whatever is used beyond estimates, cancelled and refunded, limits are used, and not beyond what they allow', () => {
  for (let i = 0; i < runsOf(60); i++) {
    const fleet = usedFleet(seed() + i);
    const random = randomFrom(seed() + i + 77);
    fleet.habits = { ...fleet.habits, excess: random() };
    const { part, used, most } = usedBy(fleet);
    const which = `SLUICE_SEED=${seed() + i} SLUICE_RUNS=1: ${fleet.name}`;
    // Single fleets differ by chance, and records keep least.
    const least = fleet.limits.length > 1 ? 0.7 : 0.85;
    assert.ok(part >= least, `${part} of what one queue would keep, ${which}`);
    assert.ok(used <= most, `${used} of a limit, ${which}`);
  }
});

test.run();
