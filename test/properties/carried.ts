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
  /** The window before it: permits refunded there may be granted before the reservations. */
  before?: PermitsAt;
}

type Spec<K extends LimitSpec['kind']> = Extract<LimitSpec, { kind: K }>;

/**
 * The moments that count under the new limit, or one moment for all of them. A bucket does not always know its newest valid
 * moment: with `isLate`, that moment is taken to be as late as possible.
 */
export function carriedOver(
  before: LimitSpec,
  after: LimitSpec,
  grants: readonly PermitsAt[],
  now: number,
  isLate = false,
): Carried[] {
  const known = remembered(before, grants, now);
  // A log is kept as it is, a bucket keeps fractions of a permit, and a window keeps its start.
  if (before.kind === after.kind) return known;
  const taken = known.reduce((sum, { n }) => sum + n, 0);
  const last = known.at(-1);
  const newest =
    before.kind === 'tokenBucket' ? newestOf(grants, now, isLate) : (last?.newest ?? last?.t ?? 0);
  const n = Math.min(Math.ceil(taken - 1e-9), mostOf(after));
  return n > 0 ? [{ t: Math.max(now, newest), n }] : [];
}

/** The grants that the old limit remembers. Reservations beyond the notice period are void. */
function remembered(before: LimitSpec, grants: readonly PermitsAt[], now: number): Carried[] {
  const ordered = [...grants].sort((a, b) => a.t - b.t);
  if (before.kind === 'fixedWindow') return lastWindow(before, ordered, now);
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

/**
 * The last used window, as one grant at its start. If it is void, the one before it; if both are void, a full window before
 * them.
 */
function lastWindow(
  { permits, interval, align }: Spec<'fixedWindow'>,
  ordered: readonly PermitsAt[],
  now: number,
): Carried[] {
  const windows: (Carried & { newest: number })[] = [];
  for (const { t, n } of ordered) {
    const last = windows.at(-1);
    const newest = Math.min(t, now + noticePeriod);
    if (last && t < last.t + interval) Object.assign(last, { n: last.n + n, newest });
    else windows.push({ t: align === 'epoch' ? Math.floor(t / interval) * interval : t, n, newest });
  }
  const [before, last] = [windows.at(-2), windows.at(-1)];
  if (!last) return [];
  const valid = last.t <= now + noticePeriod ? last : before;
  if (!valid) return [];
  const late = Math.max(0, valid.t - now - noticePeriod);
  if (late > 0)
    return [{ t: valid.t - Math.ceil(late / interval) * interval, n: permits, newest: now + noticePeriod }];
  if (valid.t + interval <= now) return [];
  return [before && valid === last ? { ...valid, before: { t: before.t, n: before.n } } : valid];
}
