import type { Cost } from '../limits/cost.ts';
import { sameCost } from '../limits/cost.ts';
import type { Run } from '../stores/store.ts';
import type { FairShare } from './fairShare.ts';
import type { Queue } from './queue.ts';
import type { Request } from './request.ts';

/** A run of a call, with the requests that it asks for. */
export interface SentRun extends Run {
  requests: Request[];
}

/** A call that is under way. */
export interface Call {
  runs: SentRun[];
  /** When it was sent, by the line's clock. */
  sent: number;
  /** How often a denial had been made void by then. */
  denials: number;
  /** How often something had been given back by then. */
  returns: number;
  /** A pause was called for meanwhile, of which the store may not know yet: when it ends, by the line's clock. */
  pausedUntil?: number;
}

/** At most so many runs go into a call: each costs the script its arguments. */
const mostRuns = 1024;

/**
 * Gathers what one call asks for, from the first request that is not booked on, and marks it as sent. `exact` tells the
 * store of each deadline as it is.
 */
export function gather(queue: Queue, share: FairShare, now: number, exact: boolean): SentRun[] {
  const runs: SentRun[] = [];
  let load = 0;
  let part = 0;
  for (const waiting of queue.requests(queue.unbooked)) {
    const room = share.room(waiting.cost, load, part);
    if (room === 0) break;
    const run = runFor(runs, waiting.cost, longestWait(waiting, now, exact));
    if (!run) break;
    const request = room < waiting.count ? queue.splitFront(waiting, room) : waiting;
    queue.send(request);
    run.requests.push(request);
    run.count += request.count;
    load += share.loadOf(request.cost) * request.count;
    part += share.partOf(request.cost) * request.count;
  }
  return runs;
}

/**
 * What the store is told that a request may wait: in whole milliseconds, so that those who came together go in one run,
 * unless it is exact. What is booked after the very deadline is refused here.
 */
function longestWait({ timeout, deadline }: Request, now: number, exact: boolean): number {
  if (timeout === 0 || timeout === Infinity) return timeout;
  return Math.max(0, exact ? deadline - now : Math.ceil(deadline - now));
}

function runFor(runs: SentRun[], cost: Cost, maxWait: number): SentRun | undefined {
  const last = runs[runs.length - 1];
  if (last && last.maxWait === maxWait && sameCost(last.cost, cost)) return last;
  if (runs.length === mostRuns) return undefined;
  const run = { count: 0, cost, maxWait, requests: [] };
  runs.push(run);
  return run;
}
