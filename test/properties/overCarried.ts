import type { Carried } from './carried.ts';
import { overAnyRestarts, overAnyWindows, overGrid, overSliding, type PermitsAt } from './oracle.ts';
import type { LimitSpec } from './specs.ts';

/**
 * Checks the grants after a change of the rate, together with the earlier grants that the new limit counts. The earlier grants
 * alone may exceed the new limit.
 */
export function overWith(
  limit: LimitSpec,
  carried: readonly Carried[],
  granted: readonly PermitsAt[],
  continues: boolean,
): string | undefined {
  if (limit.kind === 'slidingWindow') return overSliding(limit, [...carried, ...granted], granted);
  if (limit.kind === 'tokenBucket') return overLevel(limit, carried, granted);
  const [window] = carried;
  if (!window) return undefined;
  const over = overContinued(limit, window, granted, continues);
  if (!over || limit.align === 'epoch' || !continues) return over;
  // A window ahead may begin earlier than its reservations. Then some windows hold all of them.
  const all = [...(window.earlier ?? []), window];
  const overAt = (momentOf: (window: Carried) => number) => {
    const counted = all.map((one) => ({ t: momentOf(one), n: Math.min(one.n, limit.permits) }));
    return overAnyWindows(limit, [...counted, ...granted]);
  };
  return overAt(({ t }) => t) ?? overAt(({ t, newest = t }) => newest);
}

/** Checks the windows after a change of the rate, the last of which keeps its start. */
function overContinued(
  limit: Extract<LimitSpec, { kind: 'fixedWindow' }>,
  window: Carried,
  granted: readonly PermitsAt[],
  continues: boolean,
): string | undefined {
  const { permits, interval, align } = limit;
  const charged = Math.min(window.n, permits);
  // A window that continues ends after its newest grant, even if the new interval is shorter.
  const endOf = ({ t, newest }: Carried) => {
    const end = Math.max(t + interval, continues && newest !== undefined ? newest + 1 : 0);
    // Its end may be off the grid: the next window starts on the grid.
    if (align === 'first') return end;
    return (continues ? Math.ceil(end / interval) : Math.floor(end / interval)) * interval;
  };
  const until = endOf(window);
  const earlier = window.earlier ?? [];
  const first = earlier[0] ?? window;
  for (const [i, before] of [{ t: -Infinity, n: 0 }, ...earlier].entries()) {
    const next = i === 0 ? first : (earlier[i] ?? window);
    // A shorter window leaves room for others before the next one.
    const end = i === 0 ? next.t : Math.min(next.t, endOf(before));
    const own = granted.filter(({ t }) => t >= before.t && t < end);
    const total = own.reduce((total, { n }) => total + n, before.n);
    // Before the first of them, there may be several windows of the grid.
    const isOver = i === 0 && align === 'epoch' ? overGrid(limit, own) !== undefined : total > permits;
    if (own.length > 0 && isOver) return `${total} permits of ${permits} before the window at ${next.t}`;
    const between = granted.filter(({ t }) => t >= end && t < next.t);
    // None of them overlaps the next one, which counts as full for that.
    const over = overAnyWindows(limit, [...between, { t: next.t, n: permits }], end);
    if (align === 'first' && over) return over;
  }
  const sum = granted.reduce((total, { t, n }) => (t >= window.t && t < until ? total + n : total), charged);
  if (sum > permits && sum > charged) return `${sum} permits of ${permits} before ${until}`;
  if (align === 'epoch') return undefined;
  return overAnyWindows(
    limit,
    granted.filter(({ t }) => t >= until),
    until,
  );
}

/**
 * The same after reservations have moved up: later windows are forgotten then, and a full window before them replaces the one
 * that continued. Aligned windows are counted on the grid; others by a counter that is reset an interval or more apart.
 */
export function overMoved(
  limit: LimitSpec,
  carried: readonly Carried[],
  granted: readonly PermitsAt[],
  continues: boolean,
): string | undefined {
  if (limit.kind !== 'fixedWindow' || !continues) return overWith(limit, carried, granted, continues);
  const [window] = carried;
  if (!window) return undefined;
  const { t, n, newest = t } = window;
  // The rest of it lies before the forgotten windows, and so does the part of the grid that it overlaps.
  if (limit.align === 'epoch') return overWith(limit, [{ t: newest, n }], granted, false);
  return overAnyRestarts(limit, [{ t, n: Math.min(n, limit.permits) }, ...granted]);
}

/** Checks that the bucket contains enough permits for each grant, with the refill of one millisecond. */
function overLevel(
  { permits, interval, burst }: Extract<LimitSpec, { kind: 'tokenBucket' }>,
  carried: readonly PermitsAt[],
  granted: readonly PermitsAt[],
): string | undefined {
  const ordered = [
    ...carried.map((s) => ({ ...s, owed: true })),
    ...granted.map((s) => ({ ...s, owed: false })),
  ];
  let taken = 0;
  let last = 0;
  for (const { t, n, owed } of ordered.sort((a, b) => a.t - b.t)) {
    taken = Math.max(0, taken - ((t - last) * permits) / interval) + n;
    last = t;
    if (!owed && taken > burst + permits / interval + 1e-9)
      return `${taken} permits are taken at ${t}, of a burst of ${burst}`;
  }
  return undefined;
}
