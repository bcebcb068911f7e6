import { show } from '../validate.ts';
import type { Limiter, Line } from './line.ts';

/** The line of what was given as a limiter; refuses what is none. */
export function lineOf<P>(limiter: Limiter<P>): Line<P> {
  const line = (limiter as Limiter<P> | null | undefined)?.line;
  if (typeof line?.ask === 'function') return line;
  throw new TypeError(`limiter: expected a RateLimiter, got ${show(limiter)}`);
}
