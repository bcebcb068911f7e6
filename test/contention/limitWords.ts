import type { Limit } from '../../src/limits/limit.ts';

/** A limit in words. */
export function wordsOf(limit: Limit): string {
  const { kind, permits, interval } = limit;
  const burst = kind === 'tokenBucket' && limit.burst !== permits ? `, burst ${limit.burst}` : '';
  return `${kind} of ${permits} in ${interval} ms${burst}`;
}
