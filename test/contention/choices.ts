/** Choices by random numbers from 0 to 1, each of which takes one of them. */
export function choicesBy(random: () => number) {
  return {
    pick: <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)],
    /** As many small numbers as large ones: their logarithms are uniform. */
    between: (least: number, most: number): number => Math.round(least * (most / least) ** random()),
  };
}
