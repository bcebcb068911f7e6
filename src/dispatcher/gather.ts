import { type Cost, sameCost } from '../limits/cost.ts';
import type { Run } from '../stores/store.ts';
import type { FairShare } from './fairShare.ts';
import type { Queue } from './queue.ts';
import type { Request } from './request.ts';

/** A run of a call, and its requests. */
export interface SentRun extends Run {
  requests: Request[];
}

/** A reserve call in flight. */
export interface Call {
  runs: SentRun[];
  /** How many requests more the last run asks for than it has. */
  prefetched: number;
  /** Set if the call asks for earlier moments for requests that have reservations. */
  earlier?: Run | undefined;
  /** When it was sent, by the monotonic clock. */
  sent: number;
  /** The place of the last request that waited then. */
  last: number;
  /** The version of the refunds at that time. */
  version: number;
  /** End of a pause that was made while the call was in flight, by the monotonic clock: the reply may not know of it. */
  pausedUntil?: number;
}

/** The most runs of a call: each adds arguments to the script. */
const mostRuns = 1024;

/**
 * Collects the requests of the next call, starting with the first that has no reservation, and marks them as sent. With
 * `exact`, the longest waits are not rounded. With `isFree`, requests with a timeout may take a whole interval's permits.
 */
export function gather(
  queue: Queue,
  share: FairShare,
  now: number,
  exact: boolean,
  isFree: boolean,
): SentRun[] {
  const runs: SentRun[] = [];
  let load = 0;
  let fraction = 0;
  // The generator of the queue would take as long as the rest of the walk.
  let next: Request | undefined;
  for (let waiting = queue.firstUnreserved; waiting; waiting = next) {
    const room = share.room(waiting.cost, load, fraction, isFree && waiting.timeout < Infinity);
    if (room === 0) break;
    queue.split(waiting);
    next = waiting.next;
    const run = runFor(runs, waiting.cost, maxWaitOf(waiting, now, exact));
    if (!run) break;
    const request = queue.splitFront(waiting, room);
    request.stage = 'sent';
    run.requests.push(request);
    run.count += request.count;
    load += share.loadOf(request.cost) * request.count;
    fraction += share.fractionOf(request.cost) * request.count;
    // The rest of it comes before those behind it.
    if (request !== waiting) break;
  }
  return runs;
}

/**
 * The longest wait that is sent for a request. Unless exact, it is rounded up to whole milliseconds, so that requests of the
 * same time share a run; a moment after the deadline itself is then rejected when the reply is applied.
 */
function maxWaitOf({ timeout, deadline }: Request, now: number, exact: boolean): number {
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
