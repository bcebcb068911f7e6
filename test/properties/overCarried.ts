import type { Carried } from './carried.ts';
import { overAnyRestarts, overAnyWindows, overSliding, type Standing } from './oracle.ts';
import type { LimitSpec } from './specs.ts';

/**
 * Whether what was granted after a change breaks the limit together with what that took over. What it took over may by itself
 * be more than the limit: it stood before.
 */
export function overWith(
  limit: LimitSpec,
  carried: readonly Carried[],
  granted: readonly Standing[],
  goesOn: boolean,
): string | undefined {
  if (limit.kind === 'slidingWindow') return overSliding(limit, [...carried, ...granted], granted);
  if (limit.kind === 'tokenBucket') return overLevel(limit, carried, granted);
  const [window] = carried;
  if (!window) return undefined;
  const { permits, interval, align } = limit;
  const full = Math.min(window.n, permits);
  // A window that goes on ends no sooner than after the newest of its grants, under an interval that is shorter, too.
  const end = Math.max(window.t + interval, goesOn && window.newest !== undefined ? window.newest + 1 : 0);
  // It may lie across the grid: the next one waits for the grid.
  const until =
    align === 'first' ? end : (goesOn ? Math.ceil(end / interval) : Math.floor(end / interval)) * interval;
  const inFront = granted.filter(({ t }) => t < window.t);
  const { before } = window;
  const early = inFront.reduce((total, { n }) => total + n, before?.n ?? 0);
  if (inFront.length > 0 && early > permits)
    return `${early} permits of ${permits} before the window at ${window.t}`;
  const sum = granted.reduce((total, { t, n }) => (t >= window.t && t < until ? total + n : total), full);
  if (sum > permits && sum > full) return `${sum} permits of ${permits} before ${until}`;
  if (align === 'epoch') return undefined;
  return overAnyWindows(
    limit,
    granted.filter(({ t }) => t >= until),
    until,
  );
}

/**
 * The same once the line has moved up: where later windows are forgotten, a full one in front of them takes the place of the
 * window that went on. On the clock the grid counts; else a counter of all of it, started anew an interval or more apart.
 */
export function overMoved(
  limit: LimitSpec,
  carried: readonly Carried[],
  granted: readonly Standing[],
  goesOn: boolean,
): string | undefined {
  if (limit.kind !== 'fixedWindow' || !goesOn) return overWith(limit, carried, granted, goesOn);
  const [window] = carried;
  if (!window) return undefined;
  const { t, n, newest = t } = window;
  // What is left of it lies before the windows that are forgotten, and so does the part of the grid that it reaches into.
  if (limit.align === 'epoch') return overWith(limit, [{ t: newest, n }], granted, false);
  return overAnyRestarts(limit, [{ t, n: Math.min(n, limit.permits) }, ...granted]);
}

/** Each grant finds in the bucket what it takes, or what runs in within a millisecond. */
function overLevel(
  { permits, interval, burst }: Extract<LimitSpec, { kind: 'tokenBucket' }>,
  carried: readonly Standing[],
  granted: readonly Standing[],
): string | undefined {
  const line = [
    ...carried.map((s) => ({ ...s, owed: true })),
    ...granted.map((s) => ({ ...s, owed: false })),
  ];
  let taken = 0;
  let last = 0;
  for (const { t, n, owed } of line.sort((a, b) => a.t - b.t)) {
    taken = Math.max(0, taken - ((t - last) * permits) / interval) + n;
    last = t;
    if (!owed && taken > burst + permits / interval + 1e-9)
      return `${taken} permits are taken at ${t}, of a burst of ${burst}`;
  }
  return undefined;
}
