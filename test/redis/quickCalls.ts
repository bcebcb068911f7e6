import { outcome } from '../../src/stores/store.ts';
import type { Call, CallReply } from '../properties/calls.ts';
import type { ControlPicture } from './controlString.ts';
import { bucketFields, type LimitPicture, type Picture } from './picture.ts';

/*
 * The calls that the scripts serve by the fast path. The slow path gives the same answers, so a comparison of the twins does not
 * detect a fast path that is not taken.
 */

/** What a call asks for, with the server's time rounded down and up. */
interface Asked {
  permits: number;
  /** Whether the reply tells how many permits are left: expired entries of a log must not count. */
  isExact: boolean;
  now: number;
  at: number;
}

/** A state, and the moment from which its ledger is calm, if it is small. */
export type Stored = Picture & { calm: number | undefined };

/** The most entries that a ledger holds itself, besides the open one; and that a list gets before new ones are coarser. */
const mostInline = 8;
const mostEntries = 2047;
/** The most steps of past grants of a bucket. */
const mostPast = 24;
/** The bounds of the count of an entry, of the permits of a step, and of a bucket's moments. */
const countBound = 2 ** 32;
const heldBound = 2 ** 46;
const momentBound = 2 ** 47;

/** Whether a call of a limiter with one unnamed limit has to take the fast path, from the ledger before it. */
export function mustBeQuick(
  call: Call,
  reply: CallReply,
  spec: string,
  before: Stored | undefined,
  control: ControlPicture,
  scope: 'fleet' | 'client',
): boolean {
  const asked = askedBy(call, reply);
  const limits: [string, string, number, number, number][] = JSON.parse(spec);
  const [name, kind, permits, interval, extra] = limits[0];
  if (!asked || asked.permits === 0 || limits.length > 1 || name !== '') return false;
  const { now, at } = asked;
  const { pausedSince, pausedUntil, liftedUntil, forgotten } = control;
  const paused = Math.max(pausedSince, pausedUntil);
  // The control is read for a new ledger, and for that of one client. A pause without a stored rate expires with its key, which
  // the twins keep.
  const isIdle = control.spec === '' ? Math.max(paused, liftedUntil) === 0 : paused <= now;
  if ((!before || scope === 'client') && !isIdle) return false;
  const isOnGrid = kind !== 'f' || extra === 0 || Math.floor(at / interval) * interval <= now;
  const isNew =
    isOnGrid &&
    (kind === 't'
      ? asked.permits <= extra && fitsBucket(asked.permits, (asked.permits * interval) / permits, now)
      : asked.permits <= permits);
  if (!before) return isNew;
  const known = call.kind === 'reserve' ? call.request.epoch : 0;
  if (before.calm === undefined || before.calm > now || before.spec !== spec) return false;
  if (before.seen > now || before.epoch < forgotten) return false;
  if (before.expires <= now) return isNew;
  if (known !== 0 && known !== before.epoch) return false;
  const [limit] = before.limits;
  if (kind === 's') return servesWindow(limit, asked);
  return kind === 't' ? servesBucket(limit, before.seen, asked) : isOnGrid && servesFixed(limit, asked);
}

function fitsBucket(held: number, untilFull: number, now: number): boolean {
  return held < heldBound && now + Math.ceil(untilFull) < momentBound;
}

/** What a call of a client without reservations asks for, if it is granted now or refused. */
function askedBy(call: Call, reply: CallReply): Asked | undefined {
  const [now, at] = [Math.floor(call.serverUs / 1000), Math.ceil(call.serverUs / 1000)];
  if (typeof reply !== 'object') return undefined;
  if (call.kind === 'decide' && 'granted' in reply && !((call.last?.moment ?? 0) > now))
    return { permits: call.cost[0], isExact: true, now, at };
  if (call.kind !== 'reserve' || !('segments' in reply)) return undefined;
  const { runs, held, last, earlier } = call.request;
  const isGranted = reply.segments.length > 0 && reply.segments.every(({ delay }) => delay === 0);
  const isRefused = runs[0]?.count === 1 && reply.segments[0].delay === outcome.refused;
  if (runs.length !== 1 || held > 0 || earlier || !(isGranted || isRefused) || (last?.moment ?? 0) > now)
    return undefined;
  return { permits: runs[0].count * runs[0].cost[0], isExact: false, now, at };
}

function servesWindow({ numbers, log }: LimitPicture, { permits: n, isExact, now, at }: Asked): boolean {
  const [permits, interval, resolution, , total, newest] = numbers;
  const gone = now - interval;
  const [last, count] = log.at(-1) ?? [0, 0];
  if (log.length === 0 || n > permits || newest > at || last <= gone) return false;
  const earlier = log.slice(0, -1);
  const removes = log[0][0] <= gone && (isExact || total + n > permits || log[0][0] <= gone - interval / 8);
  // Of a list, the fast path removes one entry, and leaves another one.
  if (removes && (earlier.length < 2 || earlier[1][0] <= gone)) return false;
  const taken = removes ? total - earlier.shift()![1] : total;
  if (taken + n > permits) return log.length === 1 || (earlier[0]?.[1] ?? 0) >= taken + n - permits;
  const isSame = Math.ceil(at / resolution) * resolution <= last;
  // So many entries are in the ledger, or in a list.
  return isSame || (earlier.length !== mostInline && log.length - 1 < mostEntries && count < countBound);
}

function servesFixed({ numbers }: LimitPicture, { permits: n, at }: Asked): boolean {
  const [permits, , , start, end, used, newest] = numbers;
  // Reservations that are ahead may move up before a request is refused.
  const isServed = used + n <= permits || newest <= at;
  return isServed && used > 0 && n <= permits && start <= at && at < end;
}

function servesBucket({ numbers }: LimitPicture, seen: number, { permits: n, now, at }: Asked): boolean {
  const [permits, interval, burst, units] = numbers;
  const [since = 0, until = -1] = numbers.slice(bucketFields);
  const cap = burst * interval;
  const level = Math.min(cap, units + (now - seen) * permits);
  const held = numbers.slice(bucketFields).filter((_, i) => i % 3 === 2);
  const most = held.reduce((sum, each) => sum + each, n);
  if (n > burst || !fitsBucket(most, (cap - level + n * interval) / permits, now)) return false;
  if (level < n * interval) return held.length <= mostPast && until <= at;
  if (held.length >= mostPast && level < cap) return false;
  return at > until || at >= since;
}
