import { defer, mergeMap, NEVER, type Observable, range, repeat, type SchedulerLike, timer } from 'rxjs';
import type { Config } from './config.ts';

/** Milliseconds between two bursts of a process. */
export const burstEvery = 2_000;

/**
 * The requests of one process. Processes do not start at the same time: each of them starts a part of the period after the
 * one before.
 */
export function arrivalsOf(
  { arrivals, rate, processes }: Config,
  process: number,
  time: SchedulerLike,
  random: () => number,
): Observable<unknown> {
  const part = process / processes;
  const period = 1_000 / rate;
  switch (arrivals) {
    case 'steady':
      return timer(part * period, period, time);
    case 'bursts':
      return timer(part * burstEvery, burstEvery, time).pipe(
        mergeMap(() => range(0, Math.max(1, Math.round((rate * burstEvery) / 1_000)))),
      );
    case 'poisson':
      // The times between the arrivals of a Poisson process have an exponential distribution.
      return defer(() => timer(-Math.log(1 - random()) * period, time)).pipe(repeat());
    case 'hand':
      return NEVER;
  }
}
