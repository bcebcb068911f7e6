/** A way to do something, and how often a second it does it. */
export type Way = readonly [name: string, rate: () => Promise<number>];

/** The median of so many rounds for each way, all ways one after the other in each round: what slows the machine down slows all. */
export async function medians(ways: readonly Way[], rounds = 5): Promise<Map<string, number>> {
  const rates = new Map(ways.map(([name]): [string, number[]] => [name, []]));
  // The first round is for the compiler.
  for (let round = 0; round <= rounds; round++)
    for (const [name, rate] of ways) {
      const measured = await rate();
      if (round > 0) rates.get(name)!.push(measured);
    }
  return new Map(Array.from(rates, ([name, all]) => [name, all.sort((a, b) => a - b)[rounds >> 1]]));
}
