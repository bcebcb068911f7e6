import type { Standing } from './oracle.ts';
import { type LimitSpec, mostOf } from './specs.ts';
import { heard } from './steered.ts';

/*
 * What a new limit has to count of what stood before the change, from what the design promises: by what was taken. Under one
 * limit, with nothing given back before. All of it in milliseconds, with no step of the clock.
 */

/** What stands together, with the newest moment of it where that is later. */
export interface Carried extends Standing {
  newest?: number;
  /** The window before it: what comes back there may be granted in front of what is booked. */
  before?: Standing;
}

type Spec<K extends LimitSpec['kind']> = Extract<LimitSpec, { kind: K }>;

/**
 * The moments, or one for all of them, that count on under the new limit. A bucket may not know which is the newest that is not
 * void: that one is taken to be as late as it can be if `isLate`.
 */
export function carriedOver(
  before: LimitSpec,
  after: LimitSpec,
  standing: readonly Standing[],
  now: number,
  isLate = false,
): Carried[] {
  const known = knownTo(before, standing, now);
  // A log goes on as it is; a bucket owes a part of a permit; a window goes on where it started.
  if (before.kind === after.kind) return known;
  const taken = known.reduce((sum, { n }) => sum + n, 0);
  const last = known.at(-1);
  const newest =
    before.kind === 'tokenBucket' ? newestOf(standing, now, isLate) : (last?.newest ?? last?.t ?? 0);
  const n = Math.min(Math.ceil(taken - 1e-9), mostOf(after));
  return n > 0 ? [{ t: Math.max(now, newest), n }] : [];
}

/** What the old limit knows of it; what is booked for later than clients need to hear of the change is void. */
function knownTo(before: LimitSpec, standing: readonly Standing[], now: number): Carried[] {
  const line = [...standing].sort((a, b) => a.t - b.t);
  if (before.kind === 'fixedWindow') return lastWindow(before, line, now);
  const valid = line.filter(({ t }) => t <= now + heard);
  if (before.kind === 'slidingWindow') return valid.filter(({ t }) => t > now - before.interval);
  return [{ t: now, n: owed(before, valid, now) }];
}

/** Permits that have not run in again, with all that is booked taken at the change; but for what runs in within a millisecond. */
function owed({ permits, interval }: Spec<'tokenBucket'>, line: readonly Standing[], now: number): number {
  let debt = 0;
  let last = 0;
  for (const { t, n } of [...line.map((s) => ({ ...s, t: Math.min(s.t, now) })), { t: now, n: 0 }]) {
    debt = Math.max(0, debt - ((t - last) * permits) / interval) + n;
    last = t;
  }
  return Math.max(0, debt - permits / interval);
}

/** The newest moment that is not void, or the latest that would not be. */
function newestOf(standing: readonly Standing[], now: number, isLate: boolean): number {
  const moments = standing.map(({ t }) => (isLate ? Math.min(t, now + heard) : t));
  return Math.max(0, ...moments.filter((t) => t <= now + heard));
}

/** The last window in use, as one grant at its start; where that is void, the one before it; where both are, a full one before them. */
function lastWindow(
  { permits, interval, align }: Spec<'fixedWindow'>,
  line: readonly Standing[],
  now: number,
): Carried[] {
  const windows: (Carried & { newest: number })[] = [];
  for (const { t, n } of line) {
    const last = windows.at(-1);
    const newest = Math.min(t, now + heard);
    if (last && t < last.t + interval) Object.assign(last, { n: last.n + n, newest });
    else windows.push({ t: align === 'epoch' ? Math.floor(t / interval) * interval : t, n, newest });
  }
  const [before, last] = [windows.at(-2), windows.at(-1)];
  if (!last) return [];
  const valid = last.t <= now + heard ? last : before;
  if (!valid) return [];
  const late = Math.max(0, valid.t - now - heard);
  if (late > 0)
    return [{ t: valid.t - Math.ceil(late / interval) * interval, n: permits, newest: now + heard }];
  if (valid.t + interval <= now) return [];
  return [before && valid === last ? { ...valid, before: { t: before.t, n: before.n } } : valid];
}
