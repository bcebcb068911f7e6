import type { Algebra } from './algebra.ts';
import type { FixedWindow } from './limit.ts';

/** The last window in use and the one in use before it. All earlier windows are past or full. */
export interface FixedWindowState {
  kind: 'fixedWindow';
  permits: number;
  interval: number;
  align: 'first' | 'epoch';
  /** The moment at which the last window starts. */
  start: number;
  /** The next window may not start before this moment. A step of the clock never makes it earlier. */
  end: number;
  /** Permits granted and reserved in the last window. */
  used: number;
  /** The newest moment granted or reserved in it. */
  newest: number;
  /**
   * Permits reserved in this window since it last had no reservation ahead. They include reservations whose
   * moment has come since.
   */
  reserved: number;
  /**
   * The same for the window before it, which becomes the last one again if all reservations in the last one
   * are refunded.
   */
  start0: number;
  end0: number;
  used0: number;
  newest0: number;
  reserved0: number;
  /**
   * Milliseconds by which the state's clock is ahead of the server's. Windows are aligned to the server's
   * clock.
   */
  shift: number;
}

/**
 * A counter per window. A request is never divided between two windows, and reservations ahead open later
 * windows. The twin of `lua/limits/fixed-window.lua`.
 */
export const fixedWindowAlgebra: Algebra<FixedWindow, FixedWindowState> = {
  create: ({ permits, interval, align }) => ({
    kind: 'fixedWindow',
    permits,
    interval,
    align,
    start: 0,
    end: 0,
    used: 0,
    newest: 0,
    reserved: 0,
    start0: 0,
    end0: 0,
    used0: 0,
    newest0: 0,
    reserved0: 0,
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
    const { permits, start, end, used, start0, end0, used0, align } = state;
    if (used === 0 && now >= end) return true;
    if (used > 0 && start <= now) return at < end && (before < end || used + n <= permits);
    // After a step of the clock, a window may be off the grid.
    if (align === 'epoch' && alignDown(state, start0) !== start0) return false;
    // After the interval was shortened, the window may overlap the last one, and moments from the start of
    // the last one count there.
    const stop = Math.min(end0, start);
    return start0 <= now && at < stop && (before < stop || used0 + n <= permits);
  },

  commit(state, now, t, n) {
    // A grant ahead of the reservations in the last window.
    if (state.used > 0 && t < state.start) {
      state.used0 += n;
      if (t > now) state.reserved0 = (state.newest0 > now ? state.reserved0 : 0) + n;
      state.newest0 = Math.max(state.newest0, t);
      return;
    }
    if (state.used === 0 || t >= state.end) open(state, t);
    state.used += n;
    if (t > now) state.reserved = (state.newest > now ? state.reserved : 0) + n;
    state.newest = Math.max(state.newest, t);
  },

  refund(state, now, t, n) {
    const { start, newest, used, start0, end0, used0 } = state;
    if (t >= start && t <= newest) {
      const back = Math.min(n, used);
      state.used -= back;
      if (t > now) state.reserved = Math.max(0, state.reserved - n);
      if (back > 0 && state.used === 0) close(state, now);
      return back;
    }
    if (t < start0 || t >= start || now >= end0) return 0;
    const back = Math.min(n, used0);
    state.used0 -= back;
    if (t > now) state.reserved0 = Math.max(0, state.reserved0 - n);
    if (state.used0 === 0) state.end0 = start0;
    return back;
  },

  release(state, now, at, n) {
    const { start, end, used, newest, reserved, start0, end0, used0, newest0, reserved0 } = state;
    // The state does not tell which reservations have come due. While one is ahead, all that were made with it
    // stay reserved.
    if (start <= at) {
      const granted = newest > at ? Math.max(0, used - reserved) : used;
      const back = now < end ? Math.min(n, granted) : 0;
      state.used -= back;
      if (back > 0 && state.used === 0) close(state, now);
      return back;
    }
    const granted = newest0 > at ? Math.max(0, used0 - reserved0) : used0;
    const back = now < end0 && start0 <= at ? Math.min(n, granted) : 0;
    state.used0 -= back;
    if (state.used0 === 0) state.end0 = start0;
    return back;
  },

  cut(state, now, after) {
    if (state.used > 0 && state.start > after) close(state, now);
    // Later reservations are void, but they still count in a window that began before `after`.
    state.newest = Math.min(state.newest, after);
    const edge = edgeOf(state);
    if (edge <= after) return;
    // The window before the forgotten ones counts as full, since how much of it is used is not known.
    state.start = edge - Math.ceil((edge - after) / state.interval) * state.interval;
    state.end = state.start + state.interval;
    // The forgotten ones may have been off the grid.
    if (state.align === 'epoch') state.end = alignUp(state, state.end);
    state.used = state.permits;
    state.newest = after;
    state.reserved = state.permits;
    forgetBefore(state);
  },

  available({ permits, used, start, end }, now, at) {
    if (now >= end) return permits;
    const open = used === 0 ? end : start;
    return open > at ? 0 : Math.max(0, permits - used);
  },

  full({ end }, now) {
    return Math.max(now, end);
  },

  roll(state, now, shift) {
    state.shift = shift;
    // After a step of the clock, a window may be off the grid. The next one starts on the grid.
    if (state.align === 'epoch') state.end = alignUp(state, state.end);
    if (state.end0 > 0 && now >= state.end0)
      Object.assign(state, { start0: 0, end0: 0, used0: 0, newest0: 0, reserved0: 0 });
    if (now < state.end) return;
    state.used = 0;
    // After a later step of the clock, no window may start before the present one.
    if (state.align === 'epoch') state.end = alignDown(state, now);
  },

  adopt(state, { permits, interval, align }) {
    Object.assign(state, { permits, interval, align });
    // Earlier grants count in the window in which they were made, so the next one starts after the newest of
    // them.
    if (state.used > 0) state.end = Math.max(state.start + interval, state.newest + 1);
    if (state.used0 > 0) state.end0 = Math.max(state.start0 + interval, state.newest0 + 1);
    if (align === 'epoch') state.end = alignUp(state, state.end);
  },

  taken: ({ used, newest }) => ({ permits: used, newest }),
};

/** Opens a window at the moment `t`. */
function open(state: FixedWindowState, t: number): void {
  state.start0 = state.start;
  state.end0 = state.end;
  state.used0 = state.used;
  state.newest0 = state.newest;
  state.reserved0 = state.reserved;
  state.start = state.align === 'epoch' ? alignDown(state, t) : t;
  state.end = state.start + state.interval;
  state.used = 0;
  state.reserved = 0;
}

/** The last window has become empty. The one before it becomes the last, unless it has ended. */
function close(state: FixedWindowState, now: number): void {
  state.start = state.start0;
  state.end = state.end0;
  state.used = state.used0;
  state.newest = state.newest0;
  state.reserved = state.reserved0;
  forgetBefore(state);
  fixedWindowAlgebra.roll(state, now, state.shift);
}

/**
 * Forgets the window before the last: it is past or full. If the last window becomes empty, the next one may
 * start where it did.
 */
function forgetBefore(state: FixedWindowState): void {
  state.start0 = state.start;
  state.end0 = state.start;
  state.used0 = 0;
  state.newest0 = state.newest;
  state.reserved0 = 0;
}

/** The start of the last window if it is in use, otherwise the earliest start of the next one. */
function edgeOf({ used, start, end }: FixedWindowState): number {
  return used > 0 ? start : end;
}

function alignDown({ interval, shift }: FixedWindowState, t: number): number {
  return Math.floor((t - shift) / interval) * interval + shift;
}

function alignUp({ interval, shift }: FixedWindowState, t: number): number {
  return Math.ceil((t - shift) / interval) * interval + shift;
}
