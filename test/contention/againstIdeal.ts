import type { Limit } from '../../src/limits/limit.ts';
import { jain } from '../fleet/measures.ts';
import { type Contention, contend, type Habits, type Outcome } from './contend.ts';
import { ideal } from './ideal.ts';

/** Of few permits, chance decides much, so as many histories as `seeds` are measured together. */
export const measured = { roundTrip: 2, warmUp: 3000, span: 30_000, seeds: 3 };

/** What clients keep, compared with one queue in the store. */
export interface Comparison {
  /** The permits that each client keeps, as a part of its fair share of the limit. */
  shares: number[];
  /** Kept permits a second. */
  rate: number;
  /** Their part of what the queue keeps. */
  part: number;
  /** Jain's index of what each client keeps. */
  jain: number;
  /** The longest wait in milliseconds, on average of the seeds. */
  longest: number;
  /** Calls for each granted request. */
  calls: number;
}

export type During = Pick<Contention, 'roundTrip' | 'jitter' | 'warmUp' | 'span' | 'fade'> & {
  seeds: number;
};

/**
 * For limits of some seconds, too: the measurement begins between the bursts in which windows grant, and after the reservations
 * that the clients made before the first refund.
 */
export function manyWindows({ interval }: Limit, span = 25_000): During {
  const warmUp = Math.max(2.6 * interval, 5600);
  return { roundTrip: 2, jitter: 0.3, warmUp, span, fade: interval, seeds: 4 };
}

/** So many clients with the same habits. */
export function againstIdeal(
  limit: Limit,
  clients: number,
  habits: Habits,
  during: During = measured,
): Comparison {
  return fleetAgainstIdeal(limit, Array(clients).fill(habits), during);
}

/** Of several limits, the permits of the one count of which the queue keeps the largest part. */
export function fleetAgainstIdeal(
  limit: Limit | readonly Limit[],
  clients: readonly Habits[],
  during: During,
): Comparison {
  const limits = [limit].flat();
  const histories = Array.from({ length: during.seeds }, (_, i) => {
    const contention = { limits, clients, ...during, seed: i + 1 };
    const { kept, taken, longest, granted, calls } = contend(contention);
    return { fleet: { kept, taken, longest, granted, calls }, queue: ideal(contention) };
  });
  const used = limits.map(
    ({ permits, interval }, i) => (sum(histories.map(({ queue }) => queue.kept[i])) * interval) / permits,
  );
  const at = used.indexOf(Math.max(...used));
  const kept = clients.map((_, client) => sum(histories.map(({ fleet }) => fleet.kept[client][at])));
  const sampleOf = (permits: number, taken: readonly number[]): Sample => ({
    kept: permits,
    taken: taken[at],
  });
  const ours = histories.map(({ fleet }) => sampleOf(sum(fleet.kept.map((own) => own[at])), fleet.taken));
  const best = histories.map(({ queue }) => sampleOf(queue.kept[at], queue.taken));
  const totalOf = (of: (one: Totals) => number) => sum(histories.map(({ fleet }) => of(fleet)));
  const { permits, interval } = limits[at];
  const rate = (sum(kept) * 1000) / (during.seeds * during.span);
  const share = (during.seeds * permits * during.span) / interval / clients.length;
  const chance = keptChance(clients);
  return {
    shares: kept.map((own) => own / share),
    rate,
    part: meanKept(ours, chance) / meanKept(best, chance),
    jain: jain(kept),
    longest: totalOf(({ longest }) => longest) / during.seeds,
    calls: totalOf(({ calls }) => calls) / totalOf(({ granted }) => granted),
  };
}

/** The figures of a history that are added up. */
type Totals = Pick<Outcome, 'longest' | 'granted' | 'calls'>;

/** The chance that a granted permit is kept, if it is the same for all: a refunded part is rounded up to whole permits. */
function keptChance(clients: readonly Habits[]): number | undefined {
  const [{ refund, part, costs, excess }] = clients;
  const areAlike = clients.every((habits) => habits === clients[0]);
  return areAlike && !excess && costs.flat().every((n) => Number.isInteger(n * part))
    ? 1 - refund * part
    : undefined;
}

/** The permits of one history that were granted, and those that were kept. */
interface Sample {
  kept: number;
  taken: number;
}

/** Fewer histories say too little of how much chance decides. */
const leastHistories = 8;

/**
 * The mean of the kept permits. If each granted permit is kept with the same chance, that of the permits which are kept beyond it
 * is known to be 0, and so is taken out as a control variate (https://en.wikipedia.org/wiki/Control_variates): few histories of few
 * permits then tell as much as many.
 */
function meanKept(histories: readonly Sample[], chance: number | undefined): number {
  const mean = (of: (one: Sample) => number) => sum(histories.map(of)) / histories.length;
  const kept = mean((one) => one.kept);
  if (chance === undefined || histories.length < leastHistories) return kept;
  const beyond = ({ kept, taken }: Sample) => kept - chance * taken;
  const most = mean(beyond);
  const variance = mean((one) => (beyond(one) - most) ** 2);
  const covariance = mean((one) => (one.kept - kept) * (beyond(one) - most));
  return variance > 0 ? kept - (covariance / variance) * most : kept;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
