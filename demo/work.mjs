import { from, identity, lastValueFrom, mergeMap, toArray } from 'rxjs';
import { RateLimiter, slidingWindow, throttleDistributed } from 'rxjs-sluice';
import { limit } from './limits.mjs';

/**
 * Calls the API for every line: as fast as possible, or through the limiter.
 *
 * This is all code that uses the library: one limiter, and one operator before the calls.
 */
export async function work({ url, lines, name, redis }) {
  const limiter = name && new RateLimiter({ name, limit: slidingWindow(limit), redis });
  const calls$ = from(lines).pipe(
    limiter ? throttleDistributed(limiter) : identity,
    mergeMap((line) => call(`${url}/weather/${encodeURIComponent(line)}`)),
    toArray(),
  );
  const statuses = await lastValueFrom(calls$);
  await limiter?.close();
  return statuses;
}

async function call(url) {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}
