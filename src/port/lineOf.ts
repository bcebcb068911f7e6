import * as check from '../validate.ts';
import type { Limiter, LimiterGroup, Line } from './line.ts';

/** Returns the line of a limiter. Throws for anything but a limiter, and for invalid permits. */
export function lineOf<P>(limiter: Limiter<P>, permits: P): Line<P> {
  if (!isLimiter(limiter)) throw check.invalid('limiter', 'a RateLimiter or group.get()', limiter);
  limiter.line.costOf(permits, false);
  return limiter.line;
}

/**
 * Returns a function that finds a line: that of the limiter, or that of the group's limiter of a key.
 *
 * Throws for anything but a limiter, or a group with a function `key`, and for invalid permits. If `permits` is a function, it
 * is not called.
 */
export function lineFinder<P>(
  limiter: Limiter<P> | LimiterGroup<P>,
  key: unknown,
  permits: unknown,
): (key: unknown) => Line<P> {
  if (isLimiter(limiter)) {
    const { line } = limiter;
    if (key !== undefined) throw new TypeError('key: expected no key without a group');
    // Permits beyond the limit in force pass: another limit may be in force when the request is made.
    if (typeof permits !== 'function') line.costOf(permits as P, false);
    return () => line;
  }
  check.methods('limiter', limiter, 'a RateLimiter or a RateLimiterGroup', ['get']);
  check.functionValue('key', key);
  // The names of a record are checked later, as the limits may depend on the key.
  if (typeof permits !== 'function' && (typeof permits !== 'object' || permits === null))
    check.positiveInteger('permits', permits);
  return (name) => {
    if (typeof name !== 'string') throw check.invalid('key', 'a string', name);
    return limiter.get(name).line;
  };
}

function isLimiter<P>(limiter: Limiter<P> | LimiterGroup<P> | null | undefined): limiter is Limiter<P> {
  return typeof (limiter as Limiter<P> | null | undefined)?.line?.ask === 'function';
}
