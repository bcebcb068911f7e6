import { type FixedWindowState, mostEarlier, startAt, type Window, windowAfter } from './windows.ts';

/*
 * Permits that are free in fixed windows ahead of reservations. The twin of lua/limits/fixed-window/gaps.lua.
 */

/**
 * Whether `n` permits are free at `t` between a past window and the next: in a window of their own, or, off the grid, in the next one
 * if that starts at `t` instead, as long as its reservations are less than an interval ahead. A new state has no past window: grants
 * that were made under another limit are put into its first one, whatever their moments.
 */
function hasRoomBetween(state: FixedWindowState, past: Window, next: Window, t: number, n: number): boolean {
  const { align, interval, permits } = state;
  const start = startAt(state, t);
  const end = start + interval;
  if (past.newest === 0 || start < past.end) return false;
  if (end <= next.start) return true;
  // After the interval was made longer, windows may overlap.
  const isLast = end <= (windowAfter(state, next.start)?.start ?? Infinity);
  return align === 'first' && isLast && next.newest < end && next.used + n <= permits;
}

/** Whether two windows start on the grid, if there is one. After a step of the clock or a change of the grid, one may be off it. */
function areOnGrid(state: FixedWindowState, one: Window, other: Window): boolean {
  return startAt(state, one.start) === one.start && startAt(state, other.start) === other.start;
}

/** Whether all windows stay within the limit with `n` more permits at `at`, if as many at `before` are refunded. */
export function hasGap(state: FixedWindowState, now: number, at: number, n: number, before: number): boolean {
  const { permits, start, end, used } = state;
  if (used === 0 && now >= end) return true;
  if (used > 0 && start <= now) return at < end && (before < end || used + n <= permits);
  const next = windowAfter(state, now);
  const window = next?.earlier;
  if (!window) return false;
  // Off the grid, both may be in one window of it.
  if (!areOnGrid(state, window, next)) return false;
  if (window.end <= now) return hasRoomBetween(state, window, next, at, n);
  // After the interval was made longer, windows with reservations overlap. Until the next one starts, this one is shorter than the
  // interval, so all permits of both would be too many.
  const stop = window.end;
  return stop <= next.start && at < stop && (before < stop || window.used + n <= permits);
}

/**
 * The first moment, `t` or later, at which `n` permits are free ahead of the last window: in one before it, or in a new one that fits
 * between two. Infinity if none is known.
 */
export function freeBefore(state: FixedWindowState, t: number, n: number, at = t): number {
  let count = 0;
  let first: Window = state;
  for (let window: Window | undefined = state; window; window = window.earlier) {
    count++;
    first = window;
  }
  if (count > mostEarlier) return Infinity;
  // An aligned window opens at its first millisecond, not at the fraction before it.
  const opensAt = state.align === 'epoch' && startAt(state, at) > t;
  let free = Math.max(opensAt ? at : t, first.start);
  for (let next = windowAfter(state, free); next; next = windowAfter(state, free)) {
    const window = next.earlier!;
    // After a change of the limit, they may overlap.
    if (window.end > next.start || !areOnGrid(state, window, next)) return Infinity;
    if (free < window.end && window.used + n <= state.permits) return free;
    free = Math.max(free, window.end);
    if (hasRoomBetween(state, window, next, free, n)) return free;
    free = next.start;
  }
  return Infinity;
}

/**
 * The window of a grant at `t`, before the last one. Between two others, of which the first one is past at `t`, one is opened, or if
 * there is no room for it, the second one starts at `t`.
 */
export function windowBefore(state: FixedWindowState, now: number, t: number): Window {
  const after = windowAfter(state, t)!;
  const window = after.earlier ?? after;
  if (t < window.end) return window;
  const start = startAt(state, t);
  const end = start + state.interval;
  if (end > after.start && state.align === 'first') return Object.assign(after, { start, end });
  const earlier = window.end > now ? window : undefined;
  after.earlier = { start, end, used: 0, newest: 0, reserved: 0, earlier };
  return after.earlier;
}
