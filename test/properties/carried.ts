import type { PermitsAt } from './oracle.ts';
import { type LimitSpec, mostOf } from './specs.ts';
import { noticePeriod } from './steered.ts';

/*
 * Which earlier grants a new limit must count after a change of the rate, computed from the promises of the design alone.
 * For a single limit, without refunds before the change and without steps of the clock. All times in milliseconds.
 */

/** Permits that count together from `t` on; `newest` is their newest moment if that is later. */
export interface Carried extends PermitsAt {
  newest?: number;
  /** The windows before it: permits refunded there may be granted before the reservations. */
  earlier?: Carried[];
}

/** The last window in use, and 15 before it; the one before these may be known, too. */
const knownWindows = 16;

type Spec<K extends LimitSpec['kind']> = Extract<LimitSpec, { kind: K }>;

/**
 * The moments that count under the new limit, or one moment for all of them. A bucket does not always know its newest valid
 * moment: with `isLate`, that moment is taken to be as late as possible, and of many windows, fewer to be known.
 */
export function carriedOver(
  before: LimitSpec,
  after: LimitSpec,
  grants: readonly PermitsAt[],
  now: number,
  isLate = false,
): Carried[] {
  const known = remembered(before, grants, now, isLate);
  // A log is kept as it is, a bucket keeps fractions of a permit, and a window keeps its start.
  if (before.kind === after.kind) return known;
  const taken = known.reduce((sum, { n }) => sum + n, 0);
  const last = known.at(-1);
  const newest =
    before.kind === 'tokenBucket' ? newestOf(grants, now, isLate) : (last?.newest ?? last?.t ?? 0);
  const n = Math.min(Math.ceil(taken - 1e-9), mostOf(after));
  // A bucket has to refill them from now on.
  const t = after.kind === 'tokenBucket' ? Math.max(now, newest) : newest || now;
  return n > 0 ? [{ t, n }] : [];
}

/** The grants that the old limit remembers. Reservations beyond the notice period are void. */
function remembered(
  before: LimitSpec,
  grants: readonly PermitsAt[],
  now: number,
  isLate: boolean,
): Carried[] {
  const ordered = [...grants].sort((a, b) => a.t - b.t);
  if (before.kind === 'fixedWindow') return lastWindow(before, ordered, now, isLate);
  const valid = ordered.filter(({ t }) => t <= now + noticePeriod);
  if (before.kind === 'slidingWindow') return valid.filter(({ t }) => t > now - before.interval);
  return [{ t: now, n: owed(before, valid, now) }];
}

/** Permits not refilled yet, if all reservations are charged at the change, less the refill of one millisecond. */
function owed(
  { permits, interval }: Spec<'tokenBucket'>,
  ordered: readonly PermitsAt[],
  now: number,
): number {
  let debt = 0;
  let last = 0;
  for (const { t, n } of [...ordered.map((s) => ({ ...s, t: Math.min(s.t, now) })), { t: now, n: 0 }]) {
    debt = Math.max(0, debt - ((t - last) * permits) / interval) + n;
    last = t;
  }
  return Math.max(0, debt - permits / interval);
}

/** The newest valid moment, or the latest moment that would be valid. */
function newestOf(grants: readonly PermitsAt[], now: number, isLate: boolean): number {
  const moments = grants.map(({ t }) => (isLate ? Math.min(t, now + noticePeriod) : t));
  return Math.max(0, ...moments.filter((t) => t <= now + noticePeriod));
}

/** The last used window that is not void, as one grant at its start. If that is forgotten, a full window before those that are known. */
function lastWindow(
  { permits, interval, align }: Spec<'fixedWindow'>,
  ordered: readonly PermitsAt[],
  now: number,
  isLate: boolean,
): Carried[] {
  const windows: (Carried & { newest: number })[] = [];
  for (const { t, n } of ordered) {
    const last = windows.at(-1);
    const newest = Math.min(t, now + noticePeriod);
    if (last && t < last.t + interval) Object.assign(last, { n: last.n + n, newest });
    else windows.push({ t: align === 'epoch' ? Math.floor(t / interval) * interval : t, n, newest });
  }
  const place = windows.filter(({ t }) => t <= now + noticePeriod).length - 1;
  const first = Math.max(0, windows.length - knownWindows - (isLate ? 0 : 1));
  if (first > 0 && place < first) {
    const { t } = windows[windows.length - knownWindows];
    const late = Math.ceil((t - now - noticePeriod) / interval) * interval;
    return [{ t: t - late, n: permits, newest: now + noticePeriod }];
  }
  const valid = windows[place];
  if (!valid || valid.t + interval <= now) return [];
  return [{ ...valid, earlier: windows.slice(first, place) }];
}
