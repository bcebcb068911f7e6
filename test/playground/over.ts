import type { Limit } from '../../src/index.ts';
import { overLimit } from '../properties/oracle.ts';

/** How the grants at these moments exceed a limit, or undefined. */
export function over(limit: Limit, moments: readonly number[]): string | undefined {
  return overLimit(
    limit,
    moments.map((t) => ({ t, n: 1 })),
  );
}
