import { PermitsExceedLimitError } from '../errors.ts';
import type { Limiter, Line } from '../limiter/line.ts';
import { show } from '../validate.ts';

/** The line of what was given as a limiter; refuses what is none. */
export function lineOf<P>(limiter: Limiter<P>): Line<P> {
  const line = (limiter as Limiter<P> | null | undefined)?.line;
  if (typeof line?.ask === 'function') return line;
  throw new TypeError(`limiter: expected a RateLimiter, got ${show(limiter)}`);
}

/**
 * Refuses what is no number of permits, when the operator is made.
 *
 * What is only too much for the limit is an error of the stream: the limit in force may be another one by then.
 */
export function checkPermits<P>(line: Line<P>, permits: P): void {
  try {
    line.costOf(permits);
  } catch (error) {
    if (!(error instanceof PermitsExceedLimitError)) throw error;
  }
}
