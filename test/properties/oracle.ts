import type { LimitSpec } from './specs.ts';

/** Permits that stand at a moment in milliseconds: granted or booked, and not given back. */
export interface Standing {
  t: number;
  n: number;
}

type Spec<K extends LimitSpec['kind']> = Extract<LimitSpec, { kind: K }>;

/*
 * Whether a limit is over, by brute force from what the limit promises. It knows nothing of how `src/limits` counts, and
 * shares no code with it. Each function answers with the breach, or with nothing.
 */

/**
 * Every window that starts or ends with a grant: no other window can hold more than these. Of `latest`, some of it must lie
 * in the window: what stood before them is not theirs to answer for.
 */
export function overSliding(
  { permits, interval }: Spec<'slidingWindow'>,
  standing: readonly Standing[],
  latest = standing,
) {
  for (const { t } of standing)
    for (const from of [t, t - interval + 1]) {
      const within = (s: Standing) => s.t >= from && s.t < from + interval;
      const sum = latest.some(within) ? sumOf(standing.filter(within)) : 0;
      if (sum > permits) return `${sum} permits of ${permits} in [${from}, ${from + interval})`;
    }
  return undefined;
}

/**
 * Every stretch from one grant to another: at most a full bucket, and what runs in on the way and in one millisecond, which is
 * so many of the moments' own unit.
 */
export function overBucket(
  { permits, interval, burst }: Spec<'tokenBucket'>,
  standing: readonly Standing[],
  millisecond = 1,
) {
  const line = inOrder(standing);
  for (let i = 0; i < line.length; i++) {
    let sum = 0;
    for (let j = i; j < line.length; j++) {
      sum += line[j].n;
      if (sum * interval > burst * interval + (line[j].t - line[i].t + millisecond) * permits)
        return `${sum} permits from ${line[i].t} to ${line[j].t}, with a burst of ${burst}`;
    }
  }
  return undefined;
}

/** Every window of the grid. */
export function overGrid({ permits, interval }: Spec<'fixedWindow'>, standing: readonly Standing[]) {
  const windows = new Map<number, number>();
  for (const { t, n } of standing) {
    const window = Math.floor(t / interval);
    const sum = (windows.get(window) ?? 0) + n;
    if (sum > permits) return `${sum} permits of ${permits} in the window of ${window * interval}`;
    windows.set(window, sum);
  }
  return undefined;
}

/** Whether there are no windows, disjoint and wherever they start from `soonest` on, that hold all that stands. */
export function overAnyWindows(
  { permits, interval }: Spec<'fixedWindow'>,
  standing: readonly Standing[],
  soonest = -Infinity,
) {
  const line = inOrder(standing);
  const dead = new Set<string>();

  /** Whether windows that start at `free` or later can hold the line from `i` on. */
  function holds(i: number, free: number): boolean {
    if (i === line.length) return true;
    const key = `${i} ${free}`;
    if (dead.has(key)) return false;
    // A window that ends with some grant starts no later than it must: that leaves the most for what follows.
    for (let last = i; last < line.length; last++) {
      const start = Math.max(free, line[last].t - interval + 1);
      if (start > line[i].t) break;
      let next = i;
      let sum = 0;
      while (next < line.length && line[next].t < start + interval) sum += line[next++].n;
      if (sum > permits) break;
      if (holds(next, start + interval)) return true;
    }
    dead.add(key);
    return false;
  }

  if (holds(0, soonest)) return undefined;
  return `no windows of ${interval} ms with ${permits} permits hold ${show(line)}`;
}

/**
 * Whether there are no moments, at least an interval apart, at which a counter of all that stands could have started anew.
 * A window of the grid that a step of the clock has moved may be longer than the interval: it holds no more for it.
 */
export function overAnyRestarts({ permits, interval }: Spec<'fixedWindow'>, standing: readonly Standing[]) {
  const line = inOrder(standing);
  const dead = new Set<string>();

  /** Whether the counter can start anew just before the grant `i`, at `free` or later, and hold the line from there on. */
  function holds(i: number, free: number): boolean {
    if (i === line.length) return true;
    const key = `${i} ${free}`;
    if (dead.has(key)) return false;
    const start = Math.max(free, i > 0 ? line[i - 1].t + 1 : -Infinity);
    let sum = 0;
    for (let next = i; start <= line[i].t && next < line.length; ) {
      sum += line[next++].n;
      if (sum > permits) break;
      if (holds(next, start + interval)) return true;
    }
    dead.add(key);
    return false;
  }

  if (holds(0, -Infinity)) return undefined;
  return `no counter of ${permits} permits in ${interval} ms or more holds ${show(line)}`;
}

function show(line: readonly Standing[]): string {
  return line.map(({ t, n }) => `${n}@${t}`).join(' ');
}

function sumOf(standing: readonly Standing[]): number {
  return standing.reduce((sum, { n }) => sum + n, 0);
}

function inOrder(standing: readonly Standing[]): Standing[] {
  return [...standing].sort((a, b) => a.t - b.t);
}
