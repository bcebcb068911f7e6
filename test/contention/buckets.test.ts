// The part of a token bucket's rate that clients keep if they refund many permits after the grant, in virtual time.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { tokenBucket } from '../../src/limits/limit.ts';
import { jain } from '../fleet/measures.ts';
import { cases } from '../support/cases.ts';
import { contend, waits } from './contend.ts';

const measured = { roundTrip: 2, warmUp: 3000, span: 20_000, seed: 1 };

/** The part of the rate that clients with `waiting` queued requests keep if they refund the part `refund` of their permits. */
function usedOf(permits: number, clients: number, waiting: number, refund: number): number {
  const habits = { ...waits, waiting, refund };
  const { kept } = contend({
    limits: [tokenBucket({ permits, interval: 1000 })],
    clients: Array.from({ length: clients }, () => habits),
    ...measured,
  });
  return kept.reduce((sum, [n]) => sum + n, 0) / (permits * 20);
}

const queues = [
  [16, 1],
  [10, 2],
  [16, 4],
] as const;
for (const [[clients, waiting], refund] of cases(queues, [0.9, 0.45]))
  test(`${clients} clients with ${waiting} queued requests that refund ${refund * 100} % keep the rate of a bucket of 50`, () => {
    const used = usedOf(50, clients, waiting, refund);
    assert.ok(used >= 0.95, `${used}`);
  });

for (const [clients, waiting, refundWithin] of cases([2, 4], [3, 5, 8], [1, 3]))
  test(`${clients} clients with ${waiting} queued requests that refund at once, within ${refundWithin} ms, most permits use the whole rate, in fair shares`, () => {
    const habits = { ...waits, waiting, costs: [[10]], refund: 1, refundWithin, part: 0.8 };
    const { kept } = contend({
      limits: [tokenBucket({ permits: 1000, interval: 1000 })],
      clients: Array(clients).fill(habits),
      ...measured,
    });
    const permits = kept.map(([n]) => n);
    const used = permits.reduce((sum, n) => sum + n, 0) / 20_000;
    assert.ok(used >= 0.95, `${used}`);
    // With fixed round trips, each client gets a whole number of requests in each.
    assert.ok(jain(permits) >= 0.89, `${permits}`);
  });

for (const [refund] of cases([0.9, 0.45]))
  test(`as many reservations as a small bucket holds, ${refund * 100} % of them refunded, leave none of its rate unused`, () => {
    const used = usedOf(10, 10, 2, refund);
    assert.ok(used >= 0.9, `${used}`);
  });

test('however many clients refund permits of a bucket, no request waits longer than the queue in front of it takes', () => {
  const habits = { ...waits, refund: 0.5, refundWithin: 500 };
  const clients = Array.from({ length: 40 }, () => habits);
  const { longest } = contend({
    limits: [tokenBucket({ permits: 10, interval: 1000 })],
    clients,
    ...measured,
  });
  assert.ok(longest <= 4100, `${longest} ms`);
});

test.run();
