import fc from 'fast-check';
import { test } from 'uvu';

const { SLUICE_SEED, SLUICE_RUNS } = process.env;
const seed = SLUICE_SEED ? Number(SLUICE_SEED) : Math.floor(Math.random() * 2 ** 31);
console.log(`SLUICE_SEED=${seed}`);

/** A promise over random values: SLUICE_SEED repeats one, SLUICE_RUNS makes it longer. */
export function promise<T>(
  title: string,
  runs: number,
  values: fc.Arbitrary<T>,
  check: (value: T) => void | Promise<void>,
): void {
  test(title, () =>
    fc.assert(
      fc.asyncProperty(values, async (value) => check(value)),
      {
        seed,
        numRuns: SLUICE_RUNS ? Number(SLUICE_RUNS) : runs,
        includeErrorInReport: true,
      },
    ),
  );
}
