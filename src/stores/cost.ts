import type { Cost } from './store.ts';

/** Whether two requests ask for the same. */
export function sameCost(a: Cost, b: Cost): boolean {
  return a === b || (a.length === b.length && a.every((n, i) => n === b[i]));
}
