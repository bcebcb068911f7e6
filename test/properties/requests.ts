import fc from 'fast-check';
import { type LimitSpec, mostOf } from './specs.ts';

const clients = 3;
/** The client of a step. */
export const client = fc.integer({ min: 0, max: clients - 1 });

/** Permits of up to three limits: mostly few, sometimes none, sometimes all. `costOf` fits them to the limits. */
export const rawCost = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 2 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 13 }) },
  ),
  { minLength: 3, maxLength: 3 },
);

/** A cost in the limits of the history: within what they can grant, except for an occasional cost that is too high. */
export function costOf(raw: readonly number[], limits: readonly LimitSpec[]): number[] {
  const cost = limits.map((limit, i) =>
    raw[i] === 13 ? mostOf(limit) + 1 : Math.min(raw[i], mostOf(limit)),
  );
  return cost.some((n) => n > 0) ? cost : cost.map((_, i) => (i === 0 ? 1 : 0));
}
