import { show, wholeUpTo } from '../validate.ts';

/** The used part of permits as a cost, for each limit. */
export function usedCost(
  names: readonly string[],
  record: boolean,
  cost: readonly number[],
  used: unknown,
): number[] {
  const most = cost.map((n) => (n > 0 ? Number.MAX_SAFE_INTEGER : 0));
  if (used === undefined) throw new TypeError('used: expected a number of permits, got undefined');
  const told = unusedCost(names, record, most, used, 'used');
  const isTold = (name: string) => typeof used === 'number' || ownNumber(used, name) !== undefined;
  return names.map((name, i) => (isTold(name) ? told[i] : cost[i]));
}

/** The unused part of permits as a cost, for each limit; may be 0. */
export function unusedCost(
  names: readonly string[],
  record: boolean,
  cost: readonly number[],
  unused: unknown,
  argument = 'unused',
): number[] {
  if (unused === undefined) return [...cost];
  if (!record || typeof unused === 'number') {
    // A number is charged to every limit, and given back to those that were charged.
    wholeUpTo(argument, unused, Math.min(...cost.filter((n) => n > 0)));
    return cost.map((n) => (n > 0 ? unused : 0));
  }
  if (typeof unused !== 'object' || unused === null || Array.isArray(unused))
    throw new TypeError(`${argument}: expected a number or a record of permits, got ${show(unused)}`);
  for (const name of Object.keys(unused))
    if (!names.includes(name))
      throw new RangeError(`${argument}: expected names of the limits, got ${show(name)}`);
  return names.map((name, i) => {
    const n = ownNumber(unused, name);
    if (n === undefined) return 0;
    wholeUpTo(`${argument}.${name}`, n, cost[i]);
    return n;
  });
}

/** A number of a record by its own name; a name that is left out, or undefined, has none. */
function ownNumber(record: unknown, name: string): unknown {
  return Object.hasOwn(record as object, name) ? (record as Record<string, unknown>)[name] : undefined;
}
