const { SLUICE_RUNS, SLUICE_SEED } = process.env;

/** The number of runs of a property: few by default, SLUICE_RUNS in a campaign; SLUICE_SEED repeats one. */
export function tried(usually: number) {
  return {
    numRuns: SLUICE_RUNS ? Number(SLUICE_RUNS) : usually,
    ...(SLUICE_SEED ? { seed: Number(SLUICE_SEED) } : {}),
    includeErrorInReport: true,
  };
}

/** An even sample of the cases: so many by default, all in a campaign. */
export function some<T>(cases: readonly T[], usually: number): T[] {
  const count = SLUICE_RUNS ? cases.length : Math.min(cases.length, usually);
  return Array.from({ length: count }, (_, i) => cases[Math.floor((i * cases.length) / count)]);
}
