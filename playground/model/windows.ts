import type { Limit } from '../../src/index.ts';

/** A stretch of time from `from` to before `to`, its grants, and how many there may be. Times in milliseconds. */
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly most: number;
}

/** The windows of a limit over its grants, at one moment. `grants` are moments in ascending order. */
export type WindowsAt = (grants: readonly number[], now: number) => Window[];

/** Returns how the windows of a limit lie over its grants. */
export function windowsOf(limit: Limit): WindowsAt {
  if (limit.kind === 'fixedWindow')
    return limit.align === 'epoch' ? (grants) => gridWindows(limit, grants) : firstWindows(limit);
  // A bucket has no windows: it grants at most its burst and what it is refilled with.
  const most = limit.permits + (limit.kind === 'tokenBucket' ? limit.burst : 0);
  return (grants, now) => {
    const from = Math.floor(now) - limit.interval + 1;
    const to = from + limit.interval;
    return [{ from, to, count: grants.filter((at) => at >= from && at < to).length, most }];
  };
}

/** The windows that start at multiples of the interval. */
function gridWindows({ permits, interval }: Limit, grants: readonly number[]): Window[] {
  const counts = new Map<number, number>();
  for (const at of grants) {
    const from = at - (at % interval);
    counts.set(from, (counts.get(from) ?? 0) + 1);
  }
  return Array.from(counts, ([from, count]) => ({ from, to: from + interval, count, most: permits }));
}

/**
 * The windows that start with a grant. A window that was opened by a request that has been cancelled starts before its first
 * grant: then the windows are placed so that they hold all grants. Windows of the past stay where they were placed.
 */
function firstWindows({ permits, interval }: Limit): WindowsAt {
  let placed: Window[] = [];
  return (grants, now) => {
    const past = placed.filter(({ to }) => to <= now - interval);
    const free = past.at(-1)?.to ?? -Infinity;
    const rest = place(
      grants,
      grants.findIndex((at) => at >= free),
      free,
    );
    const kept = past.map(recounted);
    // A window may have been placed before all of its grants were known.
    const holds = rest && kept.every(({ count }) => count <= permits);
    placed = holds ? [...kept, ...rest] : (place(grants, 0, -Infinity) ?? []);
    return placed;

    function recounted(window: Window): Window {
      return { ...window, count: grants.filter((at) => at >= window.from && at < window.to).length };
    }
  };

  /**
   * Windows for the grants from `first` on, none of them before `free`; undefined if there are none. `failed` has the pairs of
   * both that were tried in vain: without them, the time would grow exponentially with the grants.
   */
  function place(
    grants: readonly number[],
    first: number,
    free: number,
    failed = new Set<string>(),
  ): Window[] | undefined {
    if (first < 0 || first === grants.length) return [];
    const key = `${first} ${free}`;
    if (failed.has(key)) return undefined;
    const opening = grants[first];
    const starts = grants.slice(first, first + permits).map((at) => Math.max(free, at - interval + 1));
    for (const from of [opening, ...starts.reverse()]) {
      if (from > opening) continue;
      const to = from + interval;
      const next = grants.findIndex((at) => at >= to);
      const count = (next < 0 ? grants.length : next) - first;
      const rest = count <= permits ? place(grants, next, to, failed) : undefined;
      if (rest) return [{ from, to, count, most: permits }, ...rest];
    }
    failed.add(key);
    return undefined;
  }
}
