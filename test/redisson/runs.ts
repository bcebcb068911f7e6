const { SLUICE_RUNS, SLUICE_SEED } = process.env;

/** How often a property is tried: few times by default, as often as SLUICE_RUNS says in a campaign; SLUICE_SEED repeats one. */
export function tried(usually: number) {
  return {
    numRuns: SLUICE_RUNS ? Number(SLUICE_RUNS) : usually,
    ...(SLUICE_SEED ? { seed: Number(SLUICE_SEED) } : {}),
    includeErrorInReport: true,
  };
}

/** Some of many cases, evenly chosen: so many by default, all of them in a campaign. */
export function some<T>(cases: readonly T[], usually: number): T[] {
  const count = SLUICE_RUNS ? cases.length : Math.min(cases.length, usually);
  return Array.from({ length: count }, (_, i) => cases[Math.floor((i * cases.length) / count)]);
}
