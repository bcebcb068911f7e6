export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

/**
 * Measures each way in each of so many rounds, one right after the other, so that what slows the machine down slows all of
 * them: ratios of one round are compared. The first rounds are for the compiler, and do not count.
 */
export async function sideBySide<Name extends string>(
  ways: Record<Name, () => Promise<number> | number>,
  rounds: number,
  before = 1,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(ways) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = -before; round < rounds; round++)
    for (const name of names) {
      const one = await ways[name]();
      if (round >= 0) measured[name].push(one);
    }
  return measured;
}

/** A way to do something, and how often a second it does it. */
export type Way = readonly [name: string, rate: () => Promise<number>];

/** The median of each way over so many rounds. */
export async function medians(ways: readonly Way[], rounds = 5): Promise<Map<string, number>> {
  const rates = await sideBySide(Object.fromEntries(ways), rounds);
  return new Map(Object.entries(rates).map(([name, all]) => [name, median(all)]));
}
