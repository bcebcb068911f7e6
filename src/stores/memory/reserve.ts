import { exceeds } from '../../limits/limit.ts';
import { algebraOf } from '../../limits/states.ts';
import {
  type Cost,
  outcome,
  type ReserveReply,
  type ReserveRequest,
  type Run,
  type Segment,
} from '../store.ts';
import { countContenders, noteContender } from './contenders.ts';
import { type Instant, type LedgerState, pausedFor, standingOf } from './ledgerState.ts';

/** Clients count as contenders, and windows are paced, for so long after the last reservation is due: milliseconds. */
const lingers = 2000;
/** Under contention a window grants at most at 1/0.8 of its rate, so that no burst comes back every interval. */
const pacing = 0.8;

/** When a request could be granted: its moment, and the wait until then in microseconds. */
export interface Offer {
  t: number;
  wait: number;
}

/** Milliseconds that a request takes of its limits' full rate: of the slowest of them. */
function loadOf({ limits }: LedgerState, cost: Cost): number {
  let load = 0;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) load = Math.max(load, (cost[i] * limits[i].interval) / limits[i].permits);
  return load;
}

/** Milliseconds by which a request moves the frontier. */
export function strideOf({ limits }: LedgerState, cost: Cost): number {
  let stride = 0;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0 && limits[i].kind !== 'tokenBucket')
      stride = Math.max(stride, (pacing * cost[i] * limits[i].interval) / limits[i].permits);
  return stride;
}

/** The first moment at which every limit can grant the cost: that of the latest. */
export function offer(ledger: LedgerState, instant: Instant, cost: Cost, stride: number): Offer {
  const { now, at, us } = instant;
  let free = Math.max(now, ledger.pausedUntil);
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0)
      free = Math.max(free, algebraOf(ledger.limits[i]).earliest(ledger.limits[i], now, at, cost[i]));
  if (stride > 0) free = Math.max(free, Math.floor(ledger.frontier));
  const t = Math.max(at, free);
  // Free by the time rounded down: granted now, though its moment is rounded up.
  return { t, wait: free <= now ? 0 : t * 1000 - us };
}

/** How many requests can be granted at the moment, of at most `most`. */
function fitAll({ limits }: LedgerState, now: number, t: number, cost: Cost, most: number): number {
  let count = most;
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) count = Math.min(count, algebraOf(limits[i]).fit(limits[i], now, t, cost[i]));
  return count;
}

/** Records so many requests at a moment, in every limit that they are charged to. */
export function commitAll({ limits }: LedgerState, now: number, t: number, cost: Cost, count: number): void {
  for (let i = 0; i < cost.length; i++)
    if (cost[i] > 0) algebraOf(limits[i]).commit(limits[i], now, t, cost[i] * count);
}

/** Grants and books what a client asks for, in order, within its share of the near future. The twin of `lua/reserve.lua`. */
export function reserve(
  ledger: LedgerState,
  instant: Instant,
  client: string,
  request: ReserveRequest,
): Omit<ReserveReply, 'now'> {
  const { now } = instant;
  const waits = request.held > 0 || request.runs.some(({ maxWait }) => maxWait > 0);
  const contenders = countContenders(ledger.contenders, client, waits, now);
  const paced = contenders > 1 || now < ledger.pacedUntil;
  const line: Line = { share: request.horizon / contenders, held: request.held, last: 0, left: false };
  const segments: Segment[] = [];
  for (const run of request.runs) serve(ledger, instant, run, line, paced, segments);

  if (contenders > 1 && line.last > 0) ledger.pacedUntil = Math.max(ledger.pacedUntil, line.last + lingers);
  const stays = line.held > 0 || line.left;
  noteContender(ledger.contenders, client, stays ? Math.max(now, line.last) + lingers : 0, now);
  const { epoch } = ledger;
  const paused = pausedFor(ledger, instant);
  const standing = standingOf(ledger, instant, request.epoch);
  return {
    epoch,
    contenders,
    segments,
    ...(paused === undefined ? {} : { paused }),
    ...(standing === undefined ? {} : { standing }),
  };
}

/** Where a client's line stands during a call. */
interface Line {
  /** Milliseconds of load that it may book ahead. */
  share: number;
  /** Milliseconds of load that it has booked. */
  held: number;
  /** The newest moment booked by this call. */
  last: number;
  /** Whether the share is used up, so that what follows stays in the line. */
  left: boolean;
}

function serve(
  ledger: LedgerState,
  instant: Instant,
  { count, cost, maxWait }: Run,
  line: Line,
  paced: boolean,
  segments: Segment[],
): void {
  const { now } = instant;
  if (exceeds(ledger.limits, cost)) {
    segments.push({ count, delay: outcome.never, retryAfter: Infinity });
    return;
  }
  const stride = paced ? strideOf(ledger, cost) : 0;
  let remaining = count;
  while (remaining > 0) {
    const { t, wait } = offer(ledger, instant, cost, stride);
    // Nobody passes those who are left in the line, not even where it would be free.
    if (wait > maxWait * 1000 || (line.left && maxWait === 0)) {
      segments.push({ count: remaining, delay: outcome.refused, retryAfter: Math.max(1000, wait) / 1000 });
      return;
    }
    line.left ||= wait > 0 && line.held > 0 && line.held >= line.share;
    if (line.left) {
      segments.push({ count: remaining, delay: outcome.left, retryAfter: 0 });
      return;
    }
    let granted = fitAll(ledger, now, wait > 0 ? t : now, cost, remaining);
    const load = wait > 0 ? loadOf(ledger, cost) : 0;
    if (wait > 0) granted = Math.min(granted, Math.max(1, Math.ceil((line.share - line.held) / load)));
    if (stride > 0) {
      const from = Math.max(ledger.frontier, t);
      granted = Math.min(granted, Math.max(1, Math.ceil((t + 1 - from) / stride)));
      ledger.frontier = from + stride * granted;
    }
    if (wait > 0) {
      line.held += load * granted;
      line.last = Math.max(line.last, t);
    }
    commitAll(ledger, now, t, cost, granted);
    segments.push({ count: granted, delay: wait / 1000, retryAfter: 0 });
    remaining -= granted;
  }
}
