import { type AskedPermits, PermitsExceedLimitError } from '../errors.ts';
import { positiveInteger, show } from '../validate.ts';
import { capacityOf, type Limit } from './limit.ts';

/** Permits asked of each limit of a limiter, in the order of its limits. Compared by value; never changed. */
export type Cost = readonly number[];

/** Permits as they are asked for: a number, charged to every limit, or a record of the limits' names. */
export type Permits<Name extends string = string> = number | { readonly [K in Name]?: number | undefined };

/** The limits of a limiter, with their names: one limit alone has the empty name. */
export interface NamedLimits {
  /** Whether the limits were given as a record. */
  readonly record: boolean;
  readonly names: readonly string[];
  /** The limiter's own: a stored rate overrides them. */
  readonly limits: readonly Limit[];
}

/** The permits as a cost, one number for each limit; throws for what is no number of permits. */
export function costOf({ record, names }: NamedLimits, permits: unknown): Cost {
  if (typeof permits === 'number' || !record) {
    positiveInteger('permits', permits);
    return names.length === 1 && permits === 1 ? one : names.map(() => permits);
  }
  if (typeof permits !== 'object' || permits === null || Array.isArray(permits))
    throw new TypeError(`permits: expected a number or a record of ${listOf(names)}, got ${show(permits)}`);
  for (const name of Object.keys(permits))
    if (!names.includes(name))
      throw new RangeError(`permits: expected names out of ${listOf(names)}, got ${show(name)}`);
  const cost = names.map((name) => {
    const n = Object.hasOwn(permits, name) ? (permits as Record<string, unknown>)[name] : undefined;
    if (n === undefined || n === 0) return 0;
    positiveInteger(`permits.${name}`, n);
    return n;
  });
  if (cost.every((n) => n === 0))
    throw new RangeError(`permits: expected a cost in one of ${listOf(names)}, got none`);
  return cost;
}

/** The cost of almost every request, made once. */
const one: Cost = /* @__PURE__ */ Object.freeze([1]);

/** What refuses more than the limits in force can ever grant. */
export function exceedsError(
  limiter: string,
  named: NamedLimits,
  limits: readonly Limit[],
  permits: AskedPermits,
): PermitsExceedLimitError {
  return new PermitsExceedLimitError(limiter, permits, permitsOf(named, limits.map(capacityOf)));
}

/** Limits as they are shown to the user: one limit, or a record of their names. */
export type ShownLimit = Limit | Readonly<Record<string, Limit>>;

/** Shows limits to the user as they were given. */
export function limitOf({ record, names }: NamedLimits, limits: readonly Limit[]): ShownLimit {
  return record ? Object.fromEntries(names.map((name, i) => [name, limits[i]])) : limits[0];
}

function listOf(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ');
}

/** A cost as it is shown to the user: as a number where there is one limit. */
export function permitsOf({ record, names }: NamedLimits, cost: Cost): AskedPermits {
  return record ? Object.fromEntries(names.map((name, i) => [name, cost[i]])) : cost[0];
}

/** The index of the limit with the smallest part left, of those that a cost is charged to. */
export function leastShare(limits: readonly Limit[], available: readonly number[], cost: Cost): number {
  let least = -1;
  for (let i = 0; i < limits.length; i++) {
    if (cost[i] === 0) continue;
    const share = available[i] / capacityOf(limits[i]);
    if (least < 0 || share < available[least] / capacityOf(limits[least])) least = i;
  }
  return least;
}

/** Whether two requests ask for the same. */
export function sameCost(a: Cost, b: Cost): boolean {
  return a === b || (a.length === b.length && a.every((n, i) => n === b[i]));
}
