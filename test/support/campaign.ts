import fc from 'fast-check';
import { test } from 'uvu';
import type { Tests } from './anyClient.ts';
import { seed } from './seed.mjs';

/**
 * The number of runs of a promise, from its number in a campaign: SLUICE_SCALE is a factor, SLUICE_RUNS sets it for
 * all.
 */
export function runsOf(runs: number): number {
  const { SLUICE_RUNS, SLUICE_SCALE = '1' } = process.env;
  return SLUICE_RUNS ? Number(SLUICE_RUNS) : Math.ceil(runs * Number(SLUICE_SCALE));
}

/** A test of a property with random values, which follow from the current seed. */
export function promise<T>(
  title: string,
  runs: number,
  values: fc.Arbitrary<T>,
  check: (value: T) => void | Promise<void>,
  { examples = [], tests = test }: { examples?: [T][]; tests?: Tests } = {},
): void {
  tests(title, () =>
    fc.assert(
      fc.asyncProperty(values, async (value) => check(value)),
      { seed: seed(), numRuns: runsOf(runs), includeErrorInReport: true, examples },
    ),
  );
}
