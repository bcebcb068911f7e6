import type { Algebra } from './algebra.ts';
import type { FixedWindow } from './limit.ts';

/** The last window in use; earlier ones are past or full. */
export interface FixedWindowState {
  kind: 'fixedWindow';
  permits: number;
  interval: number;
  align: 'first' | 'epoch';
  /** The moment at which the window starts. */
  start: number;
  /** The moment before which the next window may not start. A step of the clock never brings it forward. */
  end: number;
  /** Permits granted and booked in it. */
  used: number;
  /** The newest moment granted or booked. */
  newest: number;
  /** Permits of this window that were booked since nothing was booked ahead: those whose moment has come since included. */
  booked: number;
  /** What the state's clock is ahead of the server's by: windows are aligned to the server's. */
  shift: number;
}

/** A counter per window. A request never straddles two, and what is booked ahead opens later windows. */
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
    booked: 0,
    shift: 0,
  }),

  earliest(state, now, at, n) {
    const { start, end, used, permits } = state;
    // A window of the grid opens with its first millisecond, not with the fraction before it.
    const soonest = state.align === 'epoch' && alignDown(state, at) > now ? at : now;
    if (soonest >= end) return soonest;
    if (used > 0 && used + n <= permits) return start <= at ? soonest : start;
    return used === 0 && end <= at ? soonest : end;
  },

  fit({ permits, used, end }, _now, t, n) {
    return Math.floor((permits - (t < end ? used : 0)) / n);
  },

  commit(state, now, t, n) {
    if (state.used === 0 || t >= state.end) {
      state.start = state.align === 'epoch' ? alignDown(state, t) : t;
      state.end = state.start + state.interval;
      state.used = 0;
      state.booked = 0;
    }
    state.used += n;
    if (t > now) state.booked = (state.newest > now ? state.booked : 0) + n;
    state.newest = Math.max(state.newest, t);
  },

  refund(state, now, t, n) {
    if (t < state.start || t >= state.end) return 0;
    const back = Math.min(n, state.used);
    state.used -= back;
    if (t > now) state.booked = Math.max(0, state.booked - n);
    // An empty window is no window: the next may start where it did.
    if (state.used === 0) state.end = state.start;
    return back;
  },

  release(state, now, at, n) {
    if (now >= state.end || state.start > at) return 0;
    // Which of them have come since is not known: while any is ahead, all that were booked with it are left.
    const granted = state.newest > at ? Math.max(0, state.used - state.booked) : state.used;
    const back = Math.min(n, granted);
    state.used -= back;
    if (state.used === 0) state.end = state.start;
    return back;
  },

  cut(state, _now, after) {
    const edge = state.used > 0 ? state.start : state.end;
    if (edge <= after) return;
    // The window before those that are forgotten is taken to be full.
    state.start = edge - Math.ceil((edge - after) / state.interval) * state.interval;
    state.end = state.start + state.interval;
    state.used = state.permits;
    state.newest = after;
    state.booked = state.permits;
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
    // After a step of the clock a window lies across the grid: the next one waits for the grid.
    if (state.align === 'epoch') state.end = alignUp(state, state.end);
    if (now < state.end) return;
    state.used = 0;
    // Nor may a window that a later step opens begin before the one of now.
    if (state.align === 'epoch') state.end = alignDown(state, now);
  },

  adopt(state, { permits, interval, align }) {
    Object.assign(state, { permits, interval, align });
    if (state.used > 0) state.end = state.start + interval;
    if (align === 'epoch') state.end = alignUp(state, state.end);
  },

  taken: ({ used, start }) => ({ permits: used, newest: start }),
};

function alignDown({ interval, shift }: FixedWindowState, t: number): number {
  return Math.floor((t - shift) / interval) * interval + shift;
}

function alignUp({ interval, shift }: FixedWindowState, t: number): number {
  return Math.ceil((t - shift) / interval) * interval + shift;
}
