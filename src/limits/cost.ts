import { PermitsExceedLimitError } from '../errors.ts';
import { invalid, positiveInteger } from '../validate.ts';
import { capacityOf, type Limit } from './limit.ts';

/** The permits of a request for each limit of a limiter, in the order of its limits. Immutable. */
export type Cost = readonly number[];

/**
 * The permits of a request: a number, charged to every limit, or a record with a number for each limit by name. A limit that
 * the record leaves out, or sets to 0, is not charged.
 */
export type Permits<Name extends string = string> = number | { readonly [K in Name]?: number | undefined };

/** The limits of a limiter, with their names; a single limit has the empty name. */
export interface NamedLimits {
  /** Whether the limits were given as a record. */
  readonly record: boolean;
  readonly names: readonly string[];
  /** The limiter's own limits, which a stored rate overrides. */
  readonly limits: readonly Limit[];
}

/** Converts permits to a cost. Throws for invalid permits. */
export function costOf({ record, names }: NamedLimits, permits: unknown): Cost {
  if (permits === 1 && names.length === 1) return one;
  if (typeof permits === 'number' || !record) {
    if (looksLikeOptions(permits))
      throw invalid('permits', 'a positive safe integer before the options', permits);
    positiveInteger('permits', permits);
    return names.map(() => permits);
  }
  if (typeof permits !== 'object' || permits === null || Array.isArray(permits))
    throw invalid('permits', `a number or a record of ${listOf(names)}`, permits);
  for (const name of Object.keys(permits))
    if (!names.includes(name)) throw invalid('permits', `names among ${listOf(names)}`, name, RangeError);
  const cost = names.map((name) => {
    const n = Object.hasOwn(permits, name) ? (permits as Record<string, unknown>)[name] : undefined;
    if (n === undefined || n === 0) return 0;
    positiveInteger(`permits.${name}`, n);
    return n;
  });
  if (cost.every((n) => n === 0))
    throw new RangeError(`permits: expected some of ${listOf(names)}, got none`);
  return cost;
}

/** Whether an argument is the options of a request, whose permits were left out. */
function looksLikeOptions(permits: unknown): boolean {
  return 'timeout' in Object(permits) || 'signal' in Object(permits);
}

/** The cost of most requests, created once. Not frozen, since V8 reads the elements of a frozen array more slowly. */
const one: Cost = [1];

/** The error for more permits than the limits in force can ever grant. */
export function exceedsError(
  limiter: string,
  named: NamedLimits,
  limits: readonly Limit[],
  cost: Cost,
): PermitsExceedLimitError {
  return new PermitsExceedLimitError(limiter, shownOf(named, cost), shownOf(named, limits.map(capacityOf)));
}

/** Limits as users write them: one limit, or a record. */
export type ShownLimit = Limit | Readonly<Record<string, Limit>>;

/** Names as an error shows them. */
export function listOf(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ');
}

/** Converts the values of the limits to the form in which users write them: one value, or a record. */
export function shownOf<T>(
  { record, names }: Omit<NamedLimits, 'limits'>,
  values: readonly T[],
): T | Readonly<Record<string, T>> {
  return record ? Object.fromEntries(names.map((name, i) => [name, values[i]])) : values[0];
}

/** The index of the limit with the smallest fraction available, among those that a cost charges. */
export function leastShare(limits: readonly Limit[], available: readonly number[], cost: Cost): number {
  if (limits.length === 1) return 0;
  let least = -1;
  for (let i = 0; i < limits.length; i++) {
    if (cost[i] === 0) continue;
    const share = available[i] / capacityOf(limits[i]);
    if (least < 0 || share < available[least] / capacityOf(limits[least])) least = i;
  }
  return least;
}

/** Whether two costs are equal. */
export function sameCost(a: Cost, b: Cost): boolean {
  return a === b || (a.length === b.length && a.every((n, i) => n === b[i]));
}
