import { small } from '../small.ts';
import type { Algebra } from './algebra.ts';
import { freeBefore, hasGap, windowBefore } from './fixedGap.ts';
import type { FixedWindow } from './limit.ts';
import {
  alignDown,
  alignUp,
  close,
  type FixedWindowState,
  fullBefore,
  open,
  roll,
  toGrid,
  type Window,
  windowAt,
} from './windows.ts';

/**
 * A counter per window. A request is never divided between two windows, and reservations ahead open later
 * windows. The twin of `lua/limits/fixed-window.lua`.
 */
export const fixedWindowAlgebra: Algebra<FixedWindow, FixedWindowState> = {
  create: ({ permits, interval, align }) => ({
    kind: 'fixedWindow',
    permits: small(permits),
    interval: small(interval),
    align,
    start: 0,
    end: 0,
    used: 0,
    newest: 0,
    reserved: 0,
    earlier: undefined,
    most: 0,
    shift: 0,
  }),

  earliest(state, now, at, n) {
    const { start, end, used, permits } = state;
    // An aligned window opens at its first millisecond, not at the fraction before it.
    const soonest = state.align === 'epoch' && alignDown(state, at) > now ? at : now;
    if (soonest >= end) return soonest;
    if (used > 0 && used + n <= permits) return start <= at ? soonest : start;
    return used === 0 && end <= at ? soonest : end;
  },

  fit({ permits, used, end }, _now, t, n) {
    return Math.floor((permits - (t < end ? used : 0)) / n);
  },

  hasGap,

  freeBefore,

  commit(state, now, t, n) {
    let window: Window = state;
    // A grant ahead of the reservations in later windows.
    if (state.used > 0 && t < state.start && state.earlier) window = windowBefore(state, now, t);
    else if (state.used === 0 || t >= state.end) open(state, now, t);
    window.used += n;
    if (t > now) window.reserved = (window.newest > now ? window.reserved : 0) + n;
    window.newest = Math.max(window.newest, t);
  },

  refund(state, now, t, n) {
    if (t >= state.start) return t <= state.newest ? take(state, state, now, t, n) : 0;
    const window = windowAt(state, t);
    if (!window || now >= window.end) return 0;
    return take(state, window, now, t, n);
  },

  release(state, now, at, n) {
    const window = windowAt(state, at);
    if (!window || now >= window.end) return 0;
    // The state does not tell which reservations have come due. While one is ahead, all that were made with it
    // stay reserved.
    const { used, newest, reserved } = window;
    return take(state, window, now, now, Math.min(n, newest > at ? Math.max(0, used - reserved) : used));
  },

  cut(state, now, after) {
    let back = 0;
    while (state.used > 0 && state.start > after) {
      back += state.used;
      close(state, now);
    }
    // Later reservations are void, but they still count in a window that began before `after`.
    state.newest = Math.min(state.newest, after);
    const edge = edgeOf(state);
    if (edge <= after) return back;
    // The window before the forgotten ones counts as full, since how much of it is used is not known. After a lower limit,
    // it may hold more.
    const used = Math.max(state.permits, state.most);
    const forgotten = Math.ceil((edge - after) / state.interval);
    state.start = edge - forgotten * state.interval;
    // The forgotten ones may have been off the grid, or apart: a pause or another limit delays windows.
    state.end =
      state.align === 'epoch'
        ? alignUp(state, state.start + state.interval)
        : Math.min(edge, after + state.interval);
    state.used = used;
    state.newest = after;
    state.reserved = used;
    state.earlier = fullBefore(state);
    return back + (forgotten - 1) * state.permits;
  },

  available(state, _now, at) {
    return edgeOf(state) > at ? 0 : Math.max(0, state.permits - state.used);
  },

  full({ end }, now) {
    return Math.max(now, end);
  },

  roll,

  adopt(state, { permits, interval, align }, shift) {
    const movesGrid = align === 'epoch' && (interval !== state.interval || align !== state.align);
    state.permits = small(permits);
    state.interval = small(interval);
    state.align = align;
    // Earlier grants count in the window in which they were made, so the next one starts after the newest of
    // them. An empty one between others lasts as long. Those of an empty last one have expired.
    for (let window: Window | undefined = state; window; window = window.earlier)
      window.end = Math.max(window.start + interval, window.newest + 1);
    if (state.used === 0) state.newest = state.end = 0;
    if (align === 'epoch') toGrid(state, shift);
    return movesGrid;
  },

  taken: ({ used, newest }) => ({ permits: used, newest }),
};

/** Takes up to `n` permits granted at `t` out of a window. Returns how many. */
function take(state: FixedWindowState, window: Window, now: number, t: number, n: number): number {
  const back = Math.min(n, window.used);
  window.used -= back;
  if (t > now) window.reserved = Math.max(0, window.reserved - n);
  if (window === state && back > 0 && window.used === 0) close(state, now);
  return back;
}

/** The start of the last window if it is in use, otherwise the earliest start of the next one. */
function edgeOf({ used, start, end }: FixedWindowState): number {
  return used > 0 ? start : end;
}
