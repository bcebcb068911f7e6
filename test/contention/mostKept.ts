import type { Outcome } from './contend.ts';

/** The most permits that were kept, in windows that end with one of them. */
export function mostKept({ standing }: Outcome, begins: (end: number) => number): number {
  let most = 0;
  for (const { moment: end } of standing) {
    const from = begins(end);
    let sum = 0;
    for (const { moment, cost } of standing) if (moment >= from && moment <= end) sum += cost[0];
    most = Math.max(most, sum);
  }
  return most;
}
