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
  /** The window before it. Nothing is granted or reserved between the two. */
  earlier: Window | undefined;
}

/**
 * The last window in use, and those before it: each that is not past, and one past one if another window fits after it. Of more than
 * {@link mostEarlier}, the earliest ones are forgotten: they count as full.
 */
export interface FixedWindowState extends Window {
  kind: 'fixedWindow';
  permits: number;
  interval: number;
  align: 'first' | 'epoch';
  /** The most permits in a forgotten window that is not past, if it may hold more than the limit; otherwise 0. */
  most: number;
  /** Milliseconds by which the clock of aligned windows is ahead of the server's, to whose clock they are aligned. */
  shift: number;
}

/** The most windows that are remembered before the last. */
const mostEarlier = 16;

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

  hasGap(state, now, at, n, before) {
    const { permits, start, end, used, align } = state;
    if (used === 0 && now >= end) return true;
    if (used > 0 && start <= now) return at < end && (before < end || used + n <= permits);
    const next = windowAfter(state, now);
    const window = next?.earlier;
    if (!window) return false;
    // After a step of the clock or a change of the grid, one of them may be off the grid, and both in one window of the grid.
    if (align === 'epoch' && [window.start, next.start].some((t) => alignDown(state, t) !== t)) return false;
    if (window.end <= now) return startAt(state, at) >= window.end && hasRoom(state, window, at, next.start);
    // After the interval was shortened, the window may overlap the next one, and moments from the start of
    // that one count there.
    const stop = Math.min(window.end, next.start);
    return at < stop && (before < stop || window.used + n <= permits);
  },

  commit(state, now, t, n) {
    let window: Window = state;
    // A grant ahead of the reservations in later windows.
    if (state.used > 0 && t < state.start && state.earlier) window = windowBefore(state, t);
    else if (state.used === 0 || t >= state.end) open(state, now, t);
    window.used += n;
    if (t > now) window.reserved = (window.newest > now ? window.reserved : 0) + n;
    window.newest = Math.max(window.newest, t);
  },

  refund(state, now, t, n) {
    if (t >= state.start) return t <= state.newest ? take(state, state, now, t, n) : 0;
    const window = windowAfter(state, t)?.earlier;
    if (!window || now >= window.end) return 0;
    return take(state, window, now, t, n);
  },

  release(state, now, at, n) {
    const window = state.start <= at ? state : windowAfter(state, at)?.earlier;
    if (!window || now >= window.end) return 0;
    // The state does not tell which reservations have come due. While one is ahead, all that were made with it
    // stay reserved.
    const { used, newest, reserved } = window;
    return take(state, window, now, now, Math.min(n, newest > at ? Math.max(0, used - reserved) : used));
  },

  cut(state, now, after) {
    while (state.used > 0 && state.start > after) close(state, now);
    // Later reservations are void, but they still count in a window that began before `after`.
    state.newest = Math.min(state.newest, after);
    const edge = edgeOf(state);
    if (edge <= after) return;
    // The window before the forgotten ones counts as full, since how much of it is used is not known. After a lower limit,
    // it may hold more.
    const used = Math.max(state.permits, state.most);
    state.start = edge - Math.ceil((edge - after) / state.interval) * state.interval;
    // The forgotten ones may have been off the grid, or apart: a pause or another limit delays windows.
    state.end =
      state.align === 'epoch'
        ? alignUp(state, state.start + state.interval)
        : Math.min(edge, after + state.interval);
    state.used = used;
    state.newest = after;
    state.reserved = used;
    state.earlier = fullBefore(state);
  },

  available(state, _now, at) {
    return edgeOf(state) > at ? 0 : Math.max(0, state.permits - state.used);
  },

  full({ end }, now) {
    return Math.max(now, end);
  },

  roll(state, now, shift) {
    if (state.align === 'epoch') toGrid(state, shift);
    forgetPast(state, now, true);
    if (now < state.end) return;
    state.used = 0;
    state.most = 0;
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
    for (let window: Window | undefined = state; window; window = window.earlier)
      if (window.used > 0) window.end = Math.max(window.start + interval, window.newest + 1);
    if (align === 'epoch') toGrid(state, shift);
    return movesGrid;
  },

  taken: ({ used, newest }) => ({ permits: used, newest }),
};

/** Opens a window at the moment `t`. */
function open(state: FixedWindowState, now: number, t: number): void {
  const { start, end, used, newest, reserved, earlier } = state;
  state.earlier = { start, end, used, newest, reserved, earlier };
  state.start = startAt(state, t);
  state.end = state.start + state.interval;
  state.used = 0;
  state.reserved = 0;
  // Later grants do not come before one that is made now.
  forgetPast(state, now, state.start > now + 1);
  forgetMany(state);
}

/** Forgets the past windows, except the last of them if another one, opened now, fits after it. */
function forgetPast(state: FixedWindowState, now: number, mayFit: boolean): void {
  for (let next: Window = state; next.earlier; next = next.earlier) {
    const past = next.earlier;
    if (now < past.end) continue;
    past.earlier = undefined;
    state.most = 0;
    if (!mayFit || !hasRoom(state, past, now, next.start)) next.earlier = undefined;
    return;
  }
}

/** Forgets the earliest windows if there are too many. */
function forgetMany(state: FixedWindowState): void {
  let window: Window = state;
  for (let count = 1; count < mostEarlier && window.earlier; count++) window = window.earlier;
  if (!window.earlier?.earlier) return;
  const used = Math.max(window.earlier.used, window.earlier.earlier.used);
  if (used > state.permits) state.most = Math.max(state.most, used);
  window.earlier = fullBefore(window);
}

/**
 * Stands for the forgotten windows before one, which are past or full: once that one is empty, the next one may start where it did.
 */
function fullBefore({ start, newest }: Window): Window {
  return { start, end: start, used: 0, newest, reserved: 0, earlier: undefined };
}

/** The earliest window that starts after `t`, if one does. */
function windowAfter(state: Window, t: number): Window | undefined {
  let after: Window | undefined;
  for (let window: Window | undefined = state; window && window.start > t; window = window.earlier)
    after = window;
  return after;
}

/** The window of a grant at `t`, before the last one: it may be opened after a past one. */
function windowBefore(state: FixedWindowState, t: number): Window {
  let after: Window = state;
  while (after.earlier!.start > t && after.earlier!.earlier) after = after.earlier!;
  const window = after.earlier!;
  if (t < window.end) return window;
  const start = startAt(state, t);
  after.earlier = { start, end: start + state.interval, used: 0, newest: 0, reserved: 0, earlier: undefined };
  return after.earlier;
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
  if (window === state && back > 0 && window.used === 0) close(state, now);
  return back;
}

/** The last window has become empty. The last one before it that is in use takes its place, unless it has ended. */
function close(state: FixedWindowState, now: number): void {
  let before = state.earlier ?? none;
  while (before.used === 0 && before.earlier) before = before.earlier;
  Object.assign(state, before);
  if (state.used === 0) state.end = state.start;
  fixedWindowAlgebra.roll(state, now, state.shift);
}

const none: Window = { start: 0, end: 0, used: 0, newest: 0, reserved: 0, earlier: undefined };

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
