// The part of a token bucket's rate that clients keep if they refund many permits after the grant, in virtual time.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import { leakyBucket, tokenBucket } from '../../src/limits/limit.ts';
import { jain } from '../fleet/measures.ts';
import { promise } from '../support/campaign.ts';
import { cases } from '../support/cases.ts';
import { againstIdeal, fleetAgainstIdeal, manyWindows } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { contend, type Habits, half, waits } from './contend.ts';
import { besideWasteful } from './wasteful.ts';

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

// Many reservations are ahead, and permits come back after up to half of the interval: they are granted ahead of these.
const crowds = [
  [20, 64],
  [50, 64],
  [70, 64],
  [100, 64],
  [150, 64],
  [110, 16],
  [400, 64],
] as const;
for (const [[permits, clients], refund] of cases(crowds, [0.6, 0.9]))
  test(`${clients} clients keep a bucket of ${permits} a second of which ${refund * 100} % are refunded late`, () => {
    const limit = tokenBucket({ permits, interval: 1000 });
    const during = { ...manyWindows(limit, 10_000), seeds: 8 };
    const habits = { ...waits, refund, refundWithin: 500 };
    assertKept(againstIdeal(limit, clients, habits, during), { part: 0.9, jain: 0.85, calls: 2.4 });
  });

// Most permits come back after more than the bucket holds was refilled, from grants that only a coarse history still has.
const fast = [
  [100, 1000, 20, 3, 20, 0.96],
  [300, 200, 300, 16, 1, 0.92],
  [300, 200, 100, 16, 1, 0.89],
  [300, 200, 300, 3, 20, 0.91],
] as const;
for (const [[permits, interval, burst, clients, waiting, part]] of cases(fast))
  test(`${clients} clients keep a bucket of ${permits} in ${interval} ms that holds ${burst}, 90 % refunded within 500 ms`, () => {
    const limit = tokenBucket({ permits, interval, burst });
    const during = { ...manyWindows(limit, 10_000), seeds: 4 };
    const habits = { ...waits, waiting, refund: 0.9, refundWithin: 500 };
    assertKept(againstIdeal(limit, clients, habits, during), { part, jain: 0.98, calls: 1.2 });
  });

// What comes back overflows a bucket that holds few requests.
const small = [
  [5, 20, 5, 8, 0.58],
  [5, 100, 5, 8, 0.95],
  [10, 200, 3, 40, 0.75],
  [200, 1000, 10, 16, 0.72],
  [20, 1000, 3, 16, 0.95],
  [20, 1000, 5, 16, 0.95],
  [8, 150, 8, 64, 0.85],
] as const;
for (const [[permits, interval, burst, clients, least]] of cases(small))
  test(`${clients} clients keep a bucket of ${permits} in ${interval} ms that holds ${burst}, if 90 % are refunded soon`, () => {
    const limit = tokenBucket({ permits, interval, burst });
    const during = { ...manyWindows(limit, 8_000), seeds: 4 };
    const habits = { ...waits, refund: 0.9, refundWithin: 5 };
    assertKept(againstIdeal(limit, clients, habits, during), { part: least, calls: 6 });
  });

for (const [permits, clients, refund] of cases([5, 20], [3, 8], [0.3, 0.6, 0.9]))
  test(`${clients} clients keep a leaky bucket of ${permits} a second of which ${refund * 100} % are refunded soon`, () => {
    const limit = leakyBucket({ permits, interval: 1000 });
    const habits = { ...waits, refund, refundWithin: 5 };
    const compared = againstIdeal(limit, clients, habits, { ...manyWindows(limit, 20_000), seeds: 8 });
    assertKept(compared, { part: 0.93, jain: 0.97, calls: 8 });
  });

/** The part of a leaky bucket's rate that is granted, refunded permits included, to clients that have at least a request at any time. */
function grantedOf(permits: number, clients: number, habits: Partial<Habits>, seed: number): number {
  const { taken } = contend({
    limits: [leakyBucket({ permits, interval: 1000 })],
    clients: Array(clients).fill({ ...waits, ...habits }),
    ...{ ...measured, jitter: 0.3, span: 8000, seed },
  });
  return taken[0] / (8 * permits);
}

const leaky = {
  permits: fc.integer({ min: 25, max: 900 }),
  clients: fc.integer({ min: 2, max: 16 }),
  part: fc.double({ min: 0.3, max: 0.9, noNaN: true }),
  within: fc.oneof(fc.integer({ min: 2, max: 20 }), fc.integer({ min: 20, max: 500 })),
  seed: fc.nat(),
};

promise(
  'a leaky bucket goes on granting at its rate, whatever is refunded',
  80,
  // Two requests cannot ask for 900 permits in a second of round trips.
  fc
    .record({ ...leaky, waiting: fc.integer({ min: 1, max: 50 }) })
    .filter((of) => of.clients * of.waiting >= of.permits / 200),
  ({ permits, clients, waiting, part, within, seed }) => {
    const granted = grantedOf(permits, clients, { waiting, refund: part, refundWithin: within }, seed);
    assert.ok(granted >= 0.97, `${granted} of the rate`);
  },
);

promise(
  'a leaky bucket goes on granting at its rate, whatever clients with four queued requests cancel',
  80,
  fc.record({ ...leaky, waiting: fc.integer({ min: 4, max: 50 }) }),
  ({ permits, clients, waiting, part, within, seed }) => {
    const granted = grantedOf(permits, clients, { waiting, cancel: part, cancelWithin: within }, seed);
    assert.ok(granted >= 0.97, `${granted} of the rate`);
  },
);

// The moment of a cancelled reservation is lost if no other request waits that may take it.
for (const [permits, clients, [cancel, cancelWithin, least]] of cases(
  [25, 50, 200],
  [2, 16],
  [
    [0.3, 50, 0.97],
    [0.6, 50, 0.93],
    [0.9, 50, 0.88],
    [0.9, 2, 0.6],
  ],
))
  test(`${clients} clients with a request each that cancel ${cancel * 100} % within ${cancelWithin} ms are granted most of a leaky bucket of ${permits} a second`, () => {
    const granted = [1, 2, 3].map((seed) => grantedOf(permits, clients, { cancel, cancelWithin }, seed));
    const mean = granted.reduce((sum, part) => sum + part, 0) / granted.length;
    assert.ok(mean >= least, `${mean} of the rate`);
  });

// A few large requests reserve what a bucket holds, and most of what comes back meanwhile overflows it.
const mixed = [
  [186, 800, 15, 26, [18, 13, 1], 0.85, 32],
  [375, 805, 3, 18, [5, 93, 3], 0.89, 15],
  [26, 259, 4, 20, [4, 1, 5], 0.86, 6],
  [28, 615, 4, 14, [1, 6, 1], 0.81, 11],
] as const;
for (const [[permits, interval, clients, waiting, costs, refund, refundWithin]] of cases(mixed))
  test(`${clients} clients keep a bucket of ${permits} in ${interval} ms, of which they request ${costs.join(' or ')}, and refund ${refund * 100} % soon`, () => {
    const limit = tokenBucket({ permits, interval });
    const habits = { ...waits, waiting, costs: costs.map((cost) => [cost]), refund, refundWithin };
    const compared = againstIdeal(limit, clients, habits, { ...manyWindows(limit, 20_000), seeds: 4 });
    assertKept(compared, { part: 0.95, jain: 0.95, calls: 3.5 });
  });

// What comes back overflows a bucket in front of as many reservations as it holds.
for (const [burst] of cases([2, 3]))
  test(`${burst} clients keep a bucket of 10 a second that holds ${burst}, 90 % of it refunded soon`, () => {
    const limit = tokenBucket({ permits: 10, interval: 1000, burst });
    const habits = { ...waits, waiting: 7, refund: 0.9, refundWithin: 26 };
    const compared = againstIdeal(limit, burst, habits, { ...manyWindows(limit, 20_000), seeds: 16 });
    assertKept(compared, { part: 0.97, jain: 0.97, calls: 3.5 });
  });

// As many permits are granted, and not refunded yet, as the bucket holds.
const soonFull = [
  [1, 20, 0.87],
  [2, 6, 0.88],
  [4, 60, 0.88],
] as const;
for (const [[clients, waiting, part]] of cases(soonFull))
  test(`clients, ${clients} in number, with ${waiting} queued requests keep a bucket that fills in 142 ms, 88 % refunded within 32 ms`, () => {
    const limit = tokenBucket({ permits: 46, interval: 142 });
    const habits = { ...waits, waiting, refund: 0.88, refundWithin: 32 };
    const compared = againstIdeal(limit, clients, habits, { ...manyWindows(limit, 10_000), seeds: 8 });
    assertKept(compared, { part, jain: 0.98, calls: 0.6 });
  });

const bursts = [
  [5, [2, 200]],
  [15, [2, 200]],
  [15, [200, 200]],
] as const;
for (const [[burst, trips]] of cases(bursts))
  test(`clients with round trips of ${trips.join(' and ')} ms use a bucket of 1000 a second that holds ${burst}, half of it refunded`, () => {
    const habits = { ...waits, waiting: 1000, refund: 0.5, refundWithin: 50 };
    const { taken } = contend({
      limits: [tokenBucket({ permits: 1000, interval: 1000, burst })],
      clients: trips.map((roundTrip) => ({ ...habits, roundTrip })),
      ...measured,
    });
    assert.ok(taken[0] >= 0.95 * 20_000, `${taken[0]} permits`);
  });

const large = [
  [50, 1000, 10, 20, [1, 3, 6]],
  [300, 50, 900, 64, [44, 54, 245]],
  [3, 200, 3, 3, [1, 1, 3]],
] as const;
for (const [[permits, interval, burst, clients, costs]] of cases(large))
  test(`${clients} clients keep a bucket of ${permits} in ${interval} ms that holds ${burst}, of which they request ${costs.join(' or ')}`, () => {
    const limit = tokenBucket({ permits, interval, burst });
    const during = { ...manyWindows(limit, 8_000), seeds: 4 };
    const habits = { ...waits, costs: costs.map((n) => [n]), refund: 0.6, refundWithin: 50 };
    assertKept(againstIdeal(limit, clients, habits, during), { part: 0.9, calls: 5 });
  });

for (const [refund] of cases([0.6, 0.9]))
  test(`10 clients keep a bucket of one permit a second of which ${refund * 100} % are refunded late`, () => {
    const limit = tokenBucket({ permits: 1, interval: 1000 });
    const during = { ...manyWindows(limit, 60_000), seeds: 32 };
    const habits = { ...waits, refund, refundWithin: 500 };
    assertKept(againstIdeal(limit, 10, habits, during), { part: 0.92, calls: 10.5 });
  });

const fleets = [
  [1, 2],
  [2, 2],
  [2, 11],
  [5, 5],
  [10, 5],
] as const;
for (const [[permits, others]] of cases(fleets))
  test(`a client that refunds 95 % late leaves ${others} others their shares of a bucket of ${permits} a second`, () => {
    const limit = tokenBucket({ permits, interval: 1000 });
    const during = { ...manyWindows(limit, 60_000), seeds: 8 };
    const { part, least } = besideWasteful(limit, { refund: 0.95, refundWithin: 500 }, others, 1, during);
    assert.ok(least >= 0.95, `${least} of a fair share`);
    assert.ok(part >= 0.8, `${part} of the ideal`);
  });

const halfFleets = [
  [2, 1000, 8, 0.88],
  [5, 1000, 8, 0.86],
  [10, 1000, 64, 0.78],
  [20, 1000, 20, 0.97],
  [30, 500, 32, 0.93],
] as const;
for (const [[permits, interval, clients, least]] of cases(halfFleets))
  test(`${clients} clients, half of which refund 90 % late, use a bucket of ${permits} in ${interval} ms`, () => {
    const limit = tokenBucket({ permits, interval });
    const fleet = half({ ...waits, refund: 0.9, refundWithin: 500 }, clients);
    const { part } = fleetAgainstIdeal(limit, fleet, { ...manyWindows(limit, 20_000), seeds: 16 });
    assert.ok(part >= least, `${part} of the ideal`);
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
