/** The names of a limiter's limits: a single one has none. */
export function limitNames(limits: readonly unknown[]): string[] {
  return limits.length === 1 ? [''] : limits.map((_, i) => `limit ${i}`);
}
