import type { LimitSpec } from './specs.ts';

/** Permits `n` granted or reserved at the moment `t`, in milliseconds, and not refunded. */
export interface PermitsAt {
  t: number;
  n: number;
}

type Spec<K extends LimitSpec['kind']> = Extract<LimitSpec, { kind: K }>;

/*
 * Checks by brute force whether a limit is exceeded. Shares no code with `src/limits`. Each function returns a description of
 * the breach, or undefined.
 */

/** How grants exceed a limit that never changed, if they do, by moments whose zero is on the grid. */
export function overLimit(limit: LimitSpec, grants: readonly PermitsAt[]): string | undefined {
  if (limit.kind === 'slidingWindow') return overSliding(limit, grants);
  if (limit.kind === 'tokenBucket') return overBucket(limit, grants);
  return limit.align === 'epoch' ? overGrid(limit, grants) : overAnyWindows(limit, grants);
}

/**
 * Checks every window that starts or ends with a grant: no other window can contain more. Only windows with a grant of `latest`
 * count: earlier grants alone may exceed a limit that was stored after them.
 */
export function overSliding(
  { permits, interval }: Spec<'slidingWindow'>,
  grants: readonly PermitsAt[],
  latest = grants,
) {
  for (const { t } of grants)
    for (const from of [t, t - interval + 1]) {
      const within = (s: PermitsAt) => s.t >= from && s.t < from + interval;
      const sum = latest.some(within) ? sumOf(grants.filter(within)) : 0;
      if (sum > permits) return `${sum} permits of ${permits} in [${from}, ${from + interval})`;
    }
  return undefined;
}

/**
 * Checks every span from one grant to another: it contains at most a full bucket, the refill of the span and the refill of one
 * millisecond. `millisecond` is its length in the unit of the moments.
 */
export function overBucket(
  { permits, interval, burst }: Spec<'tokenBucket'>,
  grants: readonly PermitsAt[],
  millisecond = 1,
) {
  const ordered = inOrder(grants);
  for (let i = 0; i < ordered.length; i++) {
    let sum = 0;
    for (let j = i; j < ordered.length; j++) {
      sum += ordered[j].n;
      if (sum * interval > burst * interval + (ordered[j].t - ordered[i].t + millisecond) * permits)
        return `${sum} permits from ${ordered[i].t} to ${ordered[j].t}, with a burst of ${burst}`;
    }
  }
  return undefined;
}

/** Checks every window of the grid. */
export function overGrid({ permits, interval }: Spec<'fixedWindow'>, grants: readonly PermitsAt[]) {
  const windows = new Map<number, number>();
  for (const { t, n } of grants) {
    const window = Math.floor(t / interval);
    const sum = (windows.get(window) ?? 0) + n;
    if (sum > permits) return `${sum} permits of ${permits} in the window of ${window * interval}`;
    windows.set(window, sum);
  }
  return undefined;
}

/** Checks that some disjoint windows, starting at `soonest` or later, can contain all grants. */
export function overAnyWindows(
  { permits, interval }: Spec<'fixedWindow'>,
  grants: readonly PermitsAt[],
  soonest = -Infinity,
) {
  const ordered = inOrder(grants);
  const failed = new Set<string>();

  /** Whether windows that start at `free` or later can contain the grants from `i` on. */
  function fits(i: number, free: number): boolean {
    if (i === ordered.length) return true;
    const key = `${i} ${free}`;
    if (failed.has(key)) return false;
    // The earliest window that ends with a given grant leaves the most room for the following ones.
    for (let last = i; last < ordered.length; last++) {
      const start = Math.max(free, ordered[last].t - interval + 1);
      if (start > ordered[i].t) break;
      let next = i;
      let sum = 0;
      while (next < ordered.length && ordered[next].t < start + interval) sum += ordered[next++].n;
      if (sum > permits) break;
      if (fits(next, start + interval)) return true;
    }
    failed.add(key);
    return false;
  }

  if (fits(0, soonest)) return undefined;
  return `no windows of ${interval} ms with ${permits} permits hold ${show(ordered)}`;
}

/**
 * Checks that a counter of the grants could have been reset at some moments, at least an interval apart, without exceeding the
 * limit. A step of the clock may make a window of the grid longer than the interval; it grants no more permits then.
 */
export function overAnyRestarts({ permits, interval }: Spec<'fixedWindow'>, grants: readonly PermitsAt[]) {
  const ordered = inOrder(grants);
  const failed = new Set<string>();

  /** Whether the counter can be reset just before the grant `i`, at `free` or later, and count the grants from `i` on. */
  function fits(i: number, free: number): boolean {
    if (i === ordered.length) return true;
    const key = `${i} ${free}`;
    if (failed.has(key)) return false;
    const start = Math.max(free, i > 0 ? ordered[i - 1].t + 1 : -Infinity);
    let sum = 0;
    for (let next = i; start <= ordered[i].t && next < ordered.length; ) {
      sum += ordered[next++].n;
      if (sum > permits) break;
      if (fits(next, start + interval)) return true;
    }
    failed.add(key);
    return false;
  }

  if (fits(0, -Infinity)) return undefined;
  return `no counter of ${permits} permits in ${interval} ms or more fits ${show(ordered)}`;
}

function show(ordered: readonly PermitsAt[]): string {
  return ordered.map(({ t, n }) => `${n}@${t}`).join(' ');
}

function sumOf(grants: readonly PermitsAt[]): number {
  return grants.reduce((sum, { n }) => sum + n, 0);
}

function inOrder(grants: readonly PermitsAt[]): PermitsAt[] {
  return [...grants].sort((a, b) => a.t - b.t);
}
