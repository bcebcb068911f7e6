import { small } from '../small.ts';
import type { Algebra } from './algebra.ts';
import type { FixedWindow } from './limit.ts';

/** A window in use. */
interface Window {
  /** The moment at which it starts. */
  start: number;
  /** The next window may not start before this moment. A step of the clock never makes it earlier. */
  end: number;
  /** Permits granted and reserved in it. */
  used: number;
  /** The newest moment granted or reserved in it. */
  newest: number;
  /**
   * Permits reserved in this window since it last had no reservation ahead. They include reservations whose
   * moment has come since.
   */
  reserved: number;
}

/** The window before the last one. */
interface Previous extends Window {
  /** The most permits in a forgotten window that is not past, if it may hold more than the limit; otherwise 0. */
  most: number;
}

/**
 * The last window in use. All earlier windows are past or full, except the one before it. Nothing is granted or reserved between
 * these two.
 */
export interface FixedWindowState extends Window {
  kind: 'fixedWindow';
  permits: number;
  interval: number;
  align: 'first' | 'epoch';
  /**
   * The window before it, unless that is past and no other one fits between the two. It becomes the last one again if all
   * reservations in the last one are refunded.
   */
  previous: Previous | undefined;
  /** Milliseconds by which the clock of aligned windows is ahead of the server's, to whose clock they are aligned. */
  shift: number;
}

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
    previous: undefined,
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

  hasGap(state, now, at, n, before) {
    const { permits, start, end, used, previous, align } = state;
    if (used === 0 && now >= end) return true;
    if (used > 0 && start <= now) return at < end && (before < end || used + n <= permits);
    if (!previous) return false;
    // After a step of the clock or a change of the grid, one of them may be off the grid, and both in one window of the grid.
    if (align === 'epoch' && [previous.start, start].some((t) => alignDown(state, t) !== t)) return false;
    if (previous.end <= now) return startAt(state, at) >= previous.end && hasRoom(state, previous, at, start);
    // After the interval was shortened, the window may overlap the last one, and moments from the start of
    // the last one count there.
    const stop = Math.min(previous.end, start);
    return previous.start <= now && at < stop && (before < stop || previous.used + n <= permits);
  },

  commit(state, now, t, n) {
    let window: Window = state;
    // A grant ahead of the reservations in the last window.
    if (state.used > 0 && t < state.start && state.previous) {
      if (t >= state.previous.end) openBefore(state, t);
      window = state.previous;
    } else if (state.used === 0 || t >= state.end) open(state, now, t);
    window.used += n;
    if (t > now) window.reserved = (window.newest > now ? window.reserved : 0) + n;
    window.newest = Math.max(window.newest, t);
  },

  refund(state, now, t, n) {
    const { start, newest, previous } = state;
    if (t >= start && t <= newest) return take(state, state, now, t, n);
    if (!previous || t < previous.start || t >= start || now >= previous.end) return 0;
    return take(state, previous, now, t, n);
  },

  release(state, now, at, n) {
    const { start, previous } = state;
    const window = start <= at ? state : previous;
    if (!window || now >= window.end || window.start > at) return 0;
    // The state does not tell which reservations have come due. While one is ahead, all that were made with it
    // stay reserved.
    const { used, newest, reserved } = window;
    return take(state, window, now, now, Math.min(n, newest > at ? Math.max(0, used - reserved) : used));
  },

  cut(state, now, after) {
    if (state.used > 0 && state.start > after) close(state, now);
    // Later reservations are void, but they still count in a window that began before `after`.
    state.newest = Math.min(state.newest, after);
    const edge = edgeOf(state);
    if (edge <= after) return;
    // The window before the forgotten ones counts as full, since how much of it is used is not known. After a lower limit,
    // it may hold more.
    const used = Math.max(state.permits, state.previous?.most ?? 0);
    state.start = edge - Math.ceil((edge - after) / state.interval) * state.interval;
    // The forgotten ones may have been off the grid, or apart: a pause or another limit delays windows.
    state.end =
      state.align === 'epoch'
        ? alignUp(state, state.start + state.interval)
        : Math.min(edge, after + state.interval);
    state.used = used;
    state.newest = after;
    state.reserved = used;
    forgetBefore(state);
  },

  available(state, _now, at) {
    return edgeOf(state) > at ? 0 : Math.max(0, state.permits - state.used);
  },

  full({ end }, now) {
    return Math.max(now, end);
  },

  roll(state, now, shift) {
    if (state.align === 'epoch') toGrid(state, shift);
    const { previous, start } = state;
    if (previous && now >= previous.end && !hasRoom(state, previous, now, start)) state.previous = undefined;
    if (now < state.end) return;
    state.used = 0;
    // After a later step of the clock, no window may start before the present one.
    if (state.align === 'epoch') state.end = alignDown(state, now);
  },

  adopt(state, { permits, interval, align }, shift) {
    const movesGrid = align === 'epoch' && (interval !== state.interval || align !== state.align);
    state.permits = small(permits);
    state.interval = small(interval);
    state.align = align;
    // Earlier grants count in the window in which they were made, so the next one starts after the newest of
    // them.
    for (const window of [state, state.previous])
      if (window && window.used > 0) window.end = Math.max(window.start + interval, window.newest + 1);
    if (align === 'epoch') toGrid(state, shift);
    return movesGrid;
  },

  taken: ({ used, newest }) => ({ permits: used, newest }),
};

/** Opens a window at the moment `t`. */
function open(state: FixedWindowState, now: number, t: number): void {
  const { start, end, used, newest, reserved, previous } = state;
  const most = previous ? Math.max(previous.most, previous.used > state.permits ? previous.used : 0) : 0;
  const opens = startAt(state, t);
  // Later grants do not come before one that is made now.
  const isKept = end > now || (opens > now + 1 && hasRoom(state, state, now, opens));
  state.previous = isKept ? { start, end, used, newest, reserved, most } : undefined;
  state.start = opens;
  state.end = state.start + state.interval;
  state.used = 0;
  state.reserved = 0;
}

/** Opens a window at the moment `t`, after the one before the last, which is past. */
function openBefore(state: FixedWindowState, t: number): void {
  const start = startAt(state, t);
  state.previous = { start, end: start + state.interval, used: 0, newest: 0, reserved: 0, most: 0 };
}

/**
 * Whether another window, opened at `t`, fits before one that starts at `start`, after a past one. A new state has none: grants
 * that were made under another limit are put into its first window, whatever their moments.
 */
function hasRoom(state: FixedWindowState, past: Window, t: number, start: number): boolean {
  return past.start > 0 && startAt(state, t) + state.interval <= start;
}

/** Takes up to `n` permits granted at `t` out of a window. Returns how many. */
function take(state: FixedWindowState, window: Window, now: number, t: number, n: number): number {
  const back = Math.min(n, window.used);
  window.used -= back;
  if (t > now) window.reserved = Math.max(0, window.reserved - n);
  if (window !== state) {
    if (window.used === 0) window.end = window.start;
  } else if (back > 0 && window.used === 0) close(state, now);
  return back;
}

/** The last window has become empty. The one before it becomes the last, unless it has ended. */
function close(state: FixedWindowState, now: number): void {
  const { start = 0, end = 0, used = 0, newest = 0, reserved = 0 }: Partial<Window> = state.previous ?? {};
  Object.assign(state, { start, end, used, newest, reserved });
  forgetBefore(state);
  fixedWindowAlgebra.roll(state, now, state.shift);
}

/**
 * Forgets the window before the last: it is past or full. If the last window becomes empty, the next one may
 * start where it did.
 */
function forgetBefore(state: FixedWindowState): void {
  const { start, newest, previous } = state;
  state.previous = { start, end: start, used: 0, newest, reserved: 0, most: previous?.most ?? 0 };
}

/** The start of the last window if it is in use, otherwise the earliest start of the next one. */
function edgeOf({ used, start, end }: FixedWindowState): number {
  return used > 0 ? start : end;
}

/**
 * After a step of the clock, a window may be off the grid. The next one starts on the grid. Other windows need no shift, a number
 * that V8 keeps in an object.
 */
function toGrid(state: FixedWindowState, shift: number): void {
  state.shift = shift;
  state.end = alignUp(state, state.end);
}

/** The start of a window that is opened at `t`. */
function startAt(state: FixedWindowState, t: number): number {
  return state.align === 'epoch' ? alignDown(state, t) : t;
}

function alignDown({ interval, shift }: FixedWindowState, t: number): number {
  return small(Math.floor((t - shift) / interval) * interval + shift);
}

function alignUp({ interval, shift }: FixedWindowState, t: number): number {
  return small(Math.ceil((t - shift) / interval) * interval + shift);
}
