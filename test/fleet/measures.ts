import type { PermitsAt } from '../properties/oracle.ts';

/** Permits granted from one moment to before another. */
export function permitsWithin(grants: readonly PermitsAt[], from: number, to: number): number {
  return grants.reduce((sum, { t, n }) => (t >= from && t < to ? sum + n : sum), 0);
}

/** Jain's fairness index: 1 for equal parts, 1 / count if one part is everything. */
export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((a, b) => a + b, 0);
  return sum ** 2 / (shares.length * shares.reduce((a, b) => a + b * b, 0));
}
