import { capacityOf, fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { randomFrom } from '../support/seed.mjs';
import { choicesBy } from './choices.ts';
import { type Habits, half, waits } from './contend.ts';
import { wordsOf } from './limitWords.ts';

/** A fleet whose limits and habits follow from a seed. */
export interface RandomFleet {
  limits: Limit[];
  clients: Habits[];
  /** Its limits and habits in words. */
  name: string;
}

/** All clients are alike, or every second one keeps what it takes. One fleet in three has two limits. */
export function randomFleet(seed: number): RandomFleet {
  const random = randomFrom(seed);
  const { pick } = choicesBy(random);

  function limitOf(): Limit {
    const spec = { permits: pick([1, 2, 5, 10, 20, 50, 100, 300, 1000]), interval: pick(intervals) };
    const burst = Math.ceil(spec.permits * pick([0.2, 1, 1, 3]));
    return pick([
      () => slidingWindow(spec),
      () => fixedWindow(spec),
      () => tokenBucket({ ...spec, burst }),
    ])();
  }

  const limits = random() < 1 / 3 ? [limitOf(), limitOf()] : [limitOf()];
  const count = pick([2, 3, 6, 10, 16, 40, 64]);
  /** A part of each limit: at least one permit. */
  const costOf = (part: number) => limits.map((limit) => Math.max(1, Math.floor(capacityOf(limit) * part)));
  const costs = pick([
    () => [costOf(0)],
    () => [costOf(0)],
    () => [costOf(pick([0.1, 0.25, 0.5, 0.9]))],
    () => [1, 2, 3].map(() => costOf(random() ** 3)),
  ])();
  const habits: Habits = {
    ...{ ...waits, costs, waiting: pick([1, 1, 4, 20]) },
    ...{ cancel: pick([0, 0, 0.3, 0.8]), cancelWithin: pick([20, 300, 3000]) },
    ...{ refund: pick([0, 0.3, 0.6, 0.9]), refundWithin: pick([5, 50, 500]), part: pick([0.8, 1, 1]) },
  };
  const isHalf = random() < 0.25;
  const clients = isHalf
    ? half(habits, count).map((own) => (own === waits ? { ...waits, costs, waiting: habits.waiting } : own))
    : Array(count).fill(habits);
  return { limits, clients, name: nameOf(limits, clients, isHalf) };
}

const intervals = [50, 200, 1000, 1000, 2500, 10_000];

function nameOf(limits: readonly Limit[], clients: readonly Habits[], isHalf: boolean): string {
  // The second client has the habits of half of them in any case.
  const [, { waiting, costs, cancel, cancelWithin, refund, refundWithin, part }] = clients;
  const words = [
    limits.map(wordsOf).join(' + '),
    `${clients.length} x ${waiting}`,
    costs.map((cost) => cost.join('+')).join(' or '),
  ];
  if (isHalf) words.push('half of them');
  if (cancel > 0) words.push(`cancel ${cancel} in ${cancelWithin} ms`);
  if (refund > 0) words.push(`refund ${part < 1 ? `${part} of ` : ''}${refund} in ${refundWithin} ms`);
  return words.join(', ');
}
