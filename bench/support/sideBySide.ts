export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

/**
 * Measures all ways one after the other in each round, so that other load of the machine affects all of them, and compares the
 * ratios of a round. The first rounds warm up the compiler, and do not count.
 */
export async function sideBySide<Name extends string, Measure = number>(
  ways: Record<Name, () => Promise<Measure> | Measure>,
  rounds: number,
  before = 1,
): Promise<Record<Name, Measure[]>> {
  const names = Object.keys(ways) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Measure[]>;
  for (let round = -before; round < rounds; round++)
    for (const name of names) {
      const one = await ways[name]();
      if (round >= 0) measured[name].push(one);
    }
  return measured;
}

/** A measured way, and its rate per second. */
export type Way = readonly [name: string, rate: () => Promise<number>];

/** The median of each way over the rounds. */
export async function medians(ways: readonly Way[], rounds = 5): Promise<Map<string, number>> {
  const rates = await sideBySide(Object.fromEntries(ways), rounds);
  return new Map(Object.entries(rates).map(([name, all]) => [name, median(all)]));
}
