import type { Limit } from '../../src/index.ts';
import { overAnyWindows, overBucket, overGrid, overSliding } from '../properties/oracle.ts';

/** How the grants at these moments exceed a limit, or undefined. */
export function over(limit: Limit, moments: readonly number[]): string | undefined {
  const standing = moments.map((t) => ({ t, n: 1 }));
  switch (limit.kind) {
    case 'slidingWindow':
      return overSliding(limit, standing);
    case 'tokenBucket':
      return overBucket(limit, standing);
    case 'fixedWindow':
      return limit.align === 'epoch' ? overGrid(limit, standing) : overAnyWindows(limit, standing);
  }
}
