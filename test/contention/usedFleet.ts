import { capacityOf, fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { loadOf } from '../../src/limits/load.ts';
import { randomFrom } from '../support/seed.mjs';
import { type Comparison, fleetAgainstIdeal } from './againstIdeal.ts';
import { choicesBy } from './choices.ts';
import { type Habits, waits } from './contend.ts';
import { wordsOf } from './limitWords.ts';

/** A fleet of like clients that cancel and refund, whose limits and habits follow from a seed. */
export interface UsedFleet {
  limits: Limit[];
  clients: number;
  habits: Habits;
  /** Its limits and habits in words. */
  name: string;
}

/** One fleet in three has two limits. Of a bucket that holds few requests, what comes back overflows, so a burst is whole. */
export function usedFleet(seed: number): UsedFleet {
  const random = randomFrom(seed);
  const { pick, between } = choicesBy(random);

  function limitOf(): Limit {
    const interval = between(100, 5000);
    const spec = { permits: Math.max(2, Math.round((between(20, 1000) * interval) / 1000)), interval };
    return pick([
      () => slidingWindow(spec),
      () => fixedWindow(spec),
      () => fixedWindow({ ...spec, align: 'epoch' }),
      () => tokenBucket(spec),
    ])();
  }

  const limits = random() < 1 / 3 ? [limitOf(), limitOf()] : [limitOf()];
  const costOf = (part: number) => limits.map((limit) => Math.max(1, Math.floor(capacityOf(limit) * part)));
  const costs = random() < 0.5 ? [costOf(0)] : [1, 2, 3].map(() => costOf(0.25 * random() ** 3));
  const habits: Habits = {
    ...{ ...waits, costs, waiting: between(1, 50) },
    ...{ cancel: pick([0, 0.9]) * random(), cancelWithin: between(5, 500) },
    ...{ refund: pick([0, 0.9, 0.9]) * random(), refundWithin: between(5, 500), part: pick([1, random()]) },
  };
  const clients = between(2, 16);
  const requests = `${clients} x ${habits.waiting} of ${costs.map((cost) => cost.join('+')).join(' or ')}`;
  return { limits, clients, habits, name: nameOf(limits, requests, habits) };
}

/** Limits, requests and habits in words. */
export function nameOf(limits: readonly Limit[], requests: string, habits: Habits): string {
  const words = limits.map(
    (limit) =>
      wordsOf(limit) + (limit.kind === 'fixedWindow' && limit.align === 'epoch' ? ' by the clock' : ''),
  );
  return [
    words.join(' + '),
    requests,
    `cancel ${habits.cancel.toFixed(2)} in ${habits.cancelWithin} ms`,
    `refund ${habits.part.toFixed(2)} of ${habits.refund.toFixed(2)} in ${habits.refundWithin} ms`,
  ].join(', ');
}

/** Grants of all histories of a fleet without refunds: with fewer, chance decides who keeps few. */
const grants = 4000;
const seeds = 8;

/** The measurement of a fleet whose requests take a load of the limits. */
export function duringOf(limits: readonly Limit[], load: number) {
  const interval = Math.max(...limits.map((limit) => limit.interval));
  const span = Math.round(Math.max(3000, 4 * interval, Math.min(20_000, (grants * load) / seeds)));
  const warmUp = Math.max(2.6 * interval, 5600);
  return { roundTrip: 2, jitter: 0.3, warmUp, span, fade: interval, seeds };
}

/** What a fleet keeps, compared with one queue; `most` is the most that it may use of a limit. */
export function usedBy({ limits, clients, habits }: UsedFleet): Comparison & { used: number; most: number } {
  const load = habits.costs.reduce((sum, cost) => sum + loadOf({ limits }, cost), 0) / habits.costs.length;
  const during = duringOf(limits, load);
  const compared = fleetAgainstIdeal(limits, Array(clients).fill(habits), during);
  const used = compared.shares.reduce((sum, share) => sum + share, 0) / clients;
  // A bucket may be full as the measurement begins, and a whole window may be granted just before it ends.
  return { ...compared, used, most: 1 + (2 * during.fade) / during.span };
}
