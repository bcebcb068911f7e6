import { invalid, wholeUpTo } from '../validate.ts';
import { listOf } from './cost.ts';

/** Converts used permits to a cost; a limit that is left out was used as granted. */
export function usedCost(
  names: readonly string[],
  record: boolean,
  cost: readonly number[],
  used: unknown,
): number[] {
  const most = cost.map((n) => (n > 0 ? Number.MAX_SAFE_INTEGER : 0));
  if (used === undefined) throw invalid('used', 'a number of permits', used);
  const given = unusedCost(names, record, most, used, 'used');
  const isGiven = (name: string) => typeof used === 'number' || ownNumber(used, name) !== undefined;
  return names.map((name, i) => (isGiven(name) ? given[i] : cost[i]));
}

/** Converts unused permits to a cost, which may be 0; a limit that is left out has none. Throws for more than `cost`. */
export function unusedCost(
  names: readonly string[],
  record: boolean,
  cost: readonly number[],
  unused: unknown,
  argument = 'unused',
): number[] {
  if (unused === undefined) return [...cost];
  if (!record || typeof unused === 'number') {
    // A number is refunded to every limit that was charged.
    wholeUpTo(argument, unused, Math.min(...cost.filter((n) => n > 0)));
    return cost.map((n) => (n > 0 ? unused : 0));
  }
  if (typeof unused !== 'object' || unused === null || Array.isArray(unused))
    throw invalid(argument, 'a number or a record of permits', unused);
  for (const name of Object.keys(unused))
    if (!names.includes(name)) throw invalid(argument, `names among ${listOf(names)}`, name, RangeError);
  return names.map((name, i) => {
    const n = ownNumber(unused, name);
    if (n === undefined) return 0;
    wholeUpTo(`${argument}.${name}`, n, cost[i]);
    return n;
  });
}

/** An own property of a record, or undefined. */
function ownNumber(record: unknown, name: string): unknown {
  return Object.hasOwn(record as object, name) ? (record as Record<string, unknown>)[name] : undefined;
}
