import { overAnyWindows, overSliding, type Standing } from './oracle.ts';
import type { LimitSpec } from './specs.ts';

/**
 * Whether what was granted after a change breaks the limit together with what that took over. What it took over may by itself
 * be more than the limit: it stood before.
 */
export function overWith(
  limit: LimitSpec,
  carried: readonly Standing[],
  granted: readonly Standing[],
  goesOn: boolean,
): string | undefined {
  if (limit.kind === 'slidingWindow') return overSliding(limit, [...carried, ...granted], granted);
  if (limit.kind === 'tokenBucket') return overLevel(limit, carried, granted);
  const [window] = carried;
  if (!window) return undefined;
  const full = { t: window.t, n: Math.min(window.n, limit.permits) };
  if (limit.align === 'first') return overAnyWindows(limit, [full, ...granted], full.t);
  // A window that goes on may lie across the grid: the next one waits for the grid.
  const { permits, interval } = limit;
  const end = Math.floor(full.t / interval) * interval + interval;
  const until = goesOn ? Math.ceil((full.t + interval) / interval) * interval : end;
  const sum = granted.reduce((total, { t, n }) => (t < until ? total + n : total), full.n);
  if (sum <= permits || sum === full.n) return undefined;
  return `${sum} permits of ${permits} before ${until}`;
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
